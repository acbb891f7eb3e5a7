import { nearby, type Site, type SiteScanner } from './site.ts';

type State =
  | 'text'
  | 'tag'
  | 'attribute'
  | 'comment'
  | 'instruction'
  | 'cdata'
  | 'declaration'
  | 'literal'
  | 'raw'
  | 'bogus';

const sites: Record<State, Site['in']> = {
  text: 'text',
  tag: 'tag',
  attribute: 'attribute',
  comment: 'comment',
  instruction: 'instruction',
  cdata: 'cdata',
  declaration: 'declaration',
  literal: 'literal',
  raw: 'text',
  bogus: 'instruction',
};

/** WHATWG HTML, 13.2.6.4: elements whose content has no tags. Some decode references: values are escaped in all but two. */
const rawElements: ReadonlySet<string> = new Set(
  'script style textarea title xmp iframe noembed noframes noscript plaintext'.split(' '),
);
const verbatimElements: ReadonlySet<string> = new Set(['script', 'style']);
const foreignElements: ReadonlySet<string> = new Set(['svg', 'math']);
/** Longer names are cut, with the slash of an end tag, because they match no element above. */
const longestName = Math.max(...Array.from(rawElements, ({ length }) => length)) + 2;

/** What can follow `<`. After a shorter one, a longer one may still come. */
const xmlOpenings = ['!--', '![CDATA[', '!', '?'];
const htmlOpenings = ['!--', '!', '?', '/'];

/**
 * Follows comments, processing instructions, declarations, tags, attributes and CDATA of XML 1.0, or of HTML. A token
 * that a literal does not finish continues in the next literal, unless an expression is inside the token.
 */
export class MarkupScanner implements SiteScanner {
  readonly #isHtml: boolean;
  #state: State = 'text';
  #rest = '';
  /** The last characters of the current place. */
  #tail = '';
  #isTailOver = false;
  #quote = '';
  /** In HTML the name of the tag, with the slash of an end tag; undefined after the tag. */
  #name: string | undefined;
  #element = '';
  /** After an equals sign of a tag, and within a value without quotes. */
  #isValue = false;
  #isUnquoted = false;
  #isSelfClosing = false;
  #isInDoctype = false;
  #isInSubset = false;
  #foreignDepth = 0;

  constructor(kind: 'xml' | 'html') {
    this.#isHtml = kind === 'html';
  }

  read(literal: string): void {
    if (literal === '') return;
    if (this.#isTailOver) this.#tail = '';
    this.#isTailOver = false;
    const text = this.#rest + literal;
    let begun = -1;
    let at = 0;
    while (at < text.length) {
      const state = this.#state;
      const next = this.#step(text, at);
      if (next === undefined) break;
      at = next;
      if (this.#state !== state) begun = at;
    }
    this.#rest = text.slice(at);
    this.#tail = (begun === -1 ? this.#tail + literal : text.slice(begun)).slice(-nearby);
  }

  meet(): Pick<Site, 'in' | 'before'> {
    if (this.#state === 'text' && this.#rest.startsWith('<')) this.#openDivided(this.#rest);
    this.#rest = '';
    this.#name = undefined;
    this.#isUnquoted ||= this.#isValue;
    this.#isValue = false;
    this.#isSelfClosing = false;
    this.#isTailOver = true;
    return { in: this.#site(), before: this.#tail };
  }

  #site(): Site['in'] {
    if (this.#state === 'tag' && this.#isUnquoted) return 'unquoted';
    return this.#state === 'raw' && verbatimElements.has(this.#element) ? 'script' : sites[this.#state];
  }

  /** The value may complete an opening, so what follows is read as a tag or a declaration. */
  #openDivided(opening: string): void {
    this.#tail = '';
    if (!opening.startsWith('<!')) this.#beginTag(0);
    else if (this.#isHtml) this.#state = 'bogus';
    else this.#beginDeclaration();
  }

  /** @returns where to continue; undefined if a token is not complete. */
  #step(text: string, at: number): number | undefined {
    switch (this.#state) {
      case 'text':
        return this.#readText(text, at);
      case 'tag':
        return this.#readTag(text, at);
      case 'attribute':
        return this.#until(text, at, this.#quote, 'tag');
      case 'literal':
        return this.#until(text, at, this.#quote, 'declaration');
      case 'comment':
        return this.#isHtml ? this.#readHtmlComment(text, at) : this.#until(text, at, '-->', this.#outer());
      case 'instruction':
        return this.#until(text, at, '?>', this.#outer());
      case 'cdata':
        return this.#until(text, at, ']]>', 'text');
      case 'bogus':
        return this.#until(text, at, '>', 'text');
      case 'declaration':
        return this.#readDeclaration(text, at);
      default:
        return this.#readRaw(text, at);
    }
  }

  #outer(): State {
    return this.#isInDoctype ? 'declaration' : 'text';
  }

  #until(text: string, at: number, end: string, next: State): number | undefined {
    const found = text.indexOf(end, at);
    if (found !== -1) {
      this.#state = next;
      return found + end.length;
    }
    return allButEndOf(text, at, end.length - 1);
  }

  /** `<!-->` and `<!--->` are complete comments, so reading starts at the dashes of the opening. */
  #readHtmlComment(text: string, at: number): number | undefined {
    const end = /--!?>/.exec(text.slice(at));
    if (!end) return allButEndOf(text, at, 3);
    this.#state = 'text';
    return at + end.index + end[0].length;
  }

  #readText(text: string, at: number): number | undefined {
    const start = text.indexOf('<', at);
    if (start === -1) return text.length;
    // Most tags of XML need no comparison with the openings
    if (!this.#isHtml && start + 1 < text.length && !'!?'.includes(text[start + 1] ?? ''))
      return this.#beginTag(start + 1);
    const behind = text.slice(start + 1, start + 1 + '![CDATA['.length);
    const openings = this.#isHtml ? htmlOpenings : xmlOpenings;
    const isUnfinished = openings.some((opening) => opening.length > behind.length && opening.startsWith(behind));
    if (isUnfinished || (this.#isHtml && behind === '/')) {
      return start > at ? start : undefined;
    }
    return this.#isHtml ? this.#openHtml(start, behind) : this.#openXml(start, behind);
  }

  #openXml(start: number, behind: string): number {
    if (behind.startsWith('!--')) return this.#begin('comment', start + 4);
    if (behind.startsWith('![CDATA[')) return this.#begin('cdata', start + 9);
    if (behind.startsWith('?')) return this.#begin('instruction', start + 2);
    if (!behind.startsWith('!')) return this.#beginTag(start + 1);
    this.#beginDeclaration();
    return start + 2;
  }

  #openHtml(start: number, behind: string): number {
    if (behind.startsWith('!--')) return this.#begin('comment', start + 2);
    if (/^[!?]/.test(behind)) return this.#begin('bogus', start + 2);
    if (/^\/?[a-z]/i.test(behind)) return this.#beginTag(start + 1);
    return behind.startsWith('/') && !behind.startsWith('/>') ? this.#begin('bogus', start + 2) : start + 1;
  }

  #begin(state: State, at: number): number {
    this.#state = state;
    return at;
  }

  #beginTag(at: number): number {
    this.#state = 'tag';
    this.#name = this.#isHtml ? '' : undefined;
    this.#element = '';
    this.#isValue = false;
    this.#isUnquoted = false;
    this.#isSelfClosing = false;
    return at;
  }

  #beginDeclaration(): void {
    this.#state = 'declaration';
    this.#isInDoctype = true;
    this.#isInSubset = false;
  }

  /** A quote begins a value only after an equals sign. */
  #readTag(text: string, from: number): number {
    let at = this.#name === undefined ? from : this.#readName(text, from);
    for (;;) {
      const stop = firstOf(tagStops, text, at);
      this.#noteEndOf(text, at, stop);
      if (stop === text.length) return stop;
      if (text[stop] === '>') {
        this.#endTag();
        return stop + 1;
      }
      if (this.#isValue) {
        this.#quote = text[stop] ?? '';
        this.#isValue = false;
        this.#isUnquoted = false;
        return this.#begin('attribute', stop + 1);
      }
      this.#isSelfClosing = false;
      at = stop + 1;
    }
  }

  /**
   * Of a part of a tag, which may be empty: notes whether a value follows or is not over, and whether a slash was the
   * last character.
   */
  #noteEndOf(text: string, from: number, end: number): void {
    if (end === from) return;
    this.#isSelfClosing = text[end - 1] === '/';
    let word = end;
    while (word > from && !isSpace(text[word - 1])) word -= 1;
    let before = word;
    while (before > from && isSpace(text[before - 1])) before -= 1;
    // After an equals sign and white space, the value is the next word
    const isValue = before > from ? text[before - 1] === '=' : this.#isValue;
    const isInWord = isValue || (word === from && this.#isUnquoted) || text.slice(word, end - 1).includes('=');
    this.#isUnquoted = word < end && isInWord;
    this.#isValue = word < end ? text[end - 1] === '=' : isValue;
  }

  /** @returns where the name ends. */
  #readName(text: string, from: number): number {
    const begun = this.#name ?? '';
    const isEndTag = begun === '' && text[from] === '/';
    const end = firstOf(nameStops, text, isEndTag ? from + 1 : from);
    const name = begun + text.slice(from, Math.min(end, from + longestName));
    this.#name = end === text.length ? name.slice(0, longestName) : undefined;
    if (end < text.length) this.#element = name.toLowerCase();
    return end;
  }

  #endTag(): void {
    if (this.#name !== undefined) this.#element = this.#name.toLowerCase();
    this.#name = undefined;
    this.#state = 'text';
    if (!this.#isHtml) return;
    const element = this.#element;
    if (foreignElements.has(element) && !this.#isSelfClosing) this.#foreignDepth += 1;
    if (element.startsWith('/') && foreignElements.has(element.slice(1))) {
      this.#foreignDepth = Math.max(0, this.#foreignDepth - 1);
    }
    // In SVG and MathML these elements are read as others are
    if (this.#foreignDepth === 0 && rawElements.has(element)) this.#state = 'raw';
  }

  #readRaw(text: string, at: number): number | undefined {
    const end = `</${this.#element}`;
    for (let start = text.indexOf('</', at); start !== -1; start = text.indexOf('</', start + 1)) {
      const behind = text[start + end.length];
      if (behind === undefined) break;
      if (/[\s/>]/.test(behind) && text.slice(start, start + end.length).toLowerCase() === end) {
        return this.#beginTag(start + 1);
      }
    }
    return allButEndOf(text, at, end.length);
  }

  #readDeclaration(text: string, from: number): number | undefined {
    for (let at = from; at < text.length; at += 1) {
      const c = text[at];
      if (c === '"' || c === "'") {
        this.#quote = c;
        return this.#begin('literal', at + 1);
      }
      if (c === '[') this.#isInSubset = true;
      else if (c === ']') this.#isInSubset = false;
      else if (c === '>' && !this.#isInSubset) {
        this.#isInDoctype = false;
        return this.#begin('text', at + 1);
      } else if (c === '<') {
        const behind = text.slice(at + 1, at + 4);
        if (behind.startsWith('?')) return this.#begin('instruction', at + 2);
        if (behind === '!--') return this.#begin('comment', at + 4);
        if ('!--'.startsWith(behind)) return at > from ? at : undefined;
      }
    }
    return text.length;
  }
}

const tagStops = /[>"']/g;
const nameStops = /[ \t\n\r\f/>]/g;

function firstOf(stops: RegExp, text: string, from: number): number {
  stops.lastIndex = from;
  return stops.exec(text)?.index ?? text.length;
}

const isSpace = (character: string | undefined) => character !== undefined && ' \t\n\r\f'.includes(character);

/** Leaves at most `length` characters unread, because they may begin the end of a place. */
function allButEndOf(text: string, at: number, length: number): number | undefined {
  const end = text.length - length;
  return end > at ? end : undefined;
}
