import type { Charset } from '@sluice/sandbox';
import type { Site, WriteAtSite } from './site.ts';

/** XML 1.0, production 2. */
const notOfXml = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
/** HTML removes or replaces these. */
const notOfHtml = /[\0\ud800-\udfff]/u;

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
const reference = (c: string) => entities[c] ?? `&#${c.codePointAt(0)};`;

/** Readers normalize line ends in text, and white space in attributes. */
const escaped = {
  text: /[&<>"'\r]/g,
  comment: /[&<>"'\r]/g,
  instruction: /[&<>"'\r]/g,
  attribute: /[&<>"'\t\n\r]/g,
  declaration: /[&<>"'\t\n\r%]/g,
  literal: /[&<>"'\t\n\r%]/g,
  tag: /[&<>"'\s/=`]/g,
  unquoted: /[&<>"'\s/=`]/g,
} as const;

export const writeInXml: WriteAtSite = (value, site, charset) =>
  notOfXml.test(value) ? undefined : writeMarkup(value, site, charset, true);

export const writeInHtml: WriteAtSite = (value, site, charset) =>
  notOfHtml.test(value) ? undefined : writeMarkup(value, site, charset, false);

function writeMarkup(value: string, site: Site, charset: Charset, isXml: boolean): string | undefined {
  switch (site.in) {
    case 'cdata':
      return inCharset(writeInCdata(value, site), charset);
    case 'script':
      return endsScript(value, site) ? undefined : inCharset(value, charset);
    case 'comment':
    case 'instruction': {
      const written = value.replace(escaped[site.in], reference);
      return makes(written, site, (isXml ? marksOfXml : marksOfHtml)[site.in])
        ? undefined
        : inCharset(written, charset);
    }
    case 'declaration':
    case 'tag':
      return inCharset(value.replace(escaped[site.in], reference), charset);
    case 'text':
    case 'attribute':
    case 'unquoted':
    case 'literal': {
      const written = value.replace(escaped[site.in], reference);
      return charset.name === 'utf-8' ? written : inCharset(withReferences(written, isXml), charset);
    }
    default:
      return undefined;
  }
}

/** The last character of a mark may come after the value, unescaped. */
const marksOfXml = { comment: ['--'], instruction: ['?>'] };
const marksOfHtml = { comment: ['-->', '--!>'], instruction: [] };

function inCharset(text: string, charset: Charset): string | undefined {
  return charset.encode(text) ? text : undefined;
}

/**
 * In any other charset than UTF-8, because readers disagree on many characters of most others (byte 0x80 in ISO-8859-1).
 * HTML reads the references of C1 controls as other characters.
 */
function withReferences(text: string, isXml: boolean): string {
  return text.replace(isXml ? /[^\0-\x7f]/gu : /[^\0-\x9f]/gu, reference);
}

const sectionEnd = ']]>';
const newSection = ']]><![CDATA[';

/** Divides each `]]>` of the value between two CDATA sections. A carriage return would be read as a line feed. */
function writeInCdata(value: string, site: Site): string {
  const parts = value.split('\r');
  return parts
    .map((part, at) =>
      divided(part, {
        before: at === 0 ? site.before : '',
        after: at === parts.length - 1 ? site.after : sectionEnd,
        meetsAnother: at === parts.length - 1 && site.meetsAnother,
      }),
    )
    .join(']]>&#13;<![CDATA[');
}

function divided(part: string, { before, after, meetsAnother }: Omit<Site, 'in'>): string {
  const start = before.length;
  const whole = before + part;
  let written = '';
  let position = start;
  for (let at = whole.indexOf(sectionEnd); at !== -1; at = whole.indexOf(sectionEnd, at + 1)) {
    const cut = at + 2;
    if (cut < start) continue;
    written += whole.slice(position, cut) + newSection;
    position = cut;
  }
  written += whole.slice(position);
  return endsWithin(whole, ']]', after, meetsAnother) || endsWithin(whole, ']', after, meetsAnother)
    ? written + newSection
    : written;
}

/**
 * Whether the section would end in the text after the value, or might with the next value. The section's real end may
 * follow brackets.
 */
function endsWithin(whole: string, brackets: string, after: string, meetsAnother: boolean): boolean {
  if (!whole.endsWith(brackets)) return false;
  const missing = sectionEnd.slice(brackets.length);
  return after.startsWith(missing) || (meetsAnother && missing.startsWith(after));
}

/** Whether the value forms one of the marks together with the text around it, or may form it with the next value. */
function makes(value: string, { before, after, meetsAnother }: Site, marks: readonly string[]): boolean {
  const whole = before + value + after;
  const [start, end] = [before.length, before.length + value.length];
  for (const mark of marks) {
    for (let at = whole.indexOf(mark); at !== -1; at = whole.indexOf(mark, at + 1)) {
      if (at + mark.length > start && at < end) return true;
      if (at < start && at + mark.length > end) return true;
    }
    for (let length = 1; meetsAnother && length < mark.length; length += 1) {
      if (value !== '' && whole.length - length < end && whole.endsWith(mark.slice(0, length))) return true;
    }
  }
  return false;
}

/** WHATWG HTML, 4.12.1.3: after `<!--` a script could end elsewhere. */
function endsScript(value: string, site: Site): boolean {
  return makes(value, site, ['</', '<!--']);
}
