import { type ServiceError, validationFailed } from '@sluice/problems';

/** The fault of a query at a place. It must not repeat what is there: it may be what the token protects. */
export function queryFault(position: number, reason: string): ServiceError {
  return validationFailed({ query: [`at character ${position}: ${reason}`] });
}

/** Goes through the text of a query from its beginning to its end, once. */
export class QueryReader {
  readonly #text: string;
  /** In UTF-16 code units, from 0. */
  position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  skipSpace(): void {
    this.#match(/\s*/y);
  }

  isAtEnd(): boolean {
    this.skipSpace();
    return this.position === this.#text.length;
  }

  /** Takes a character, and the spaces before it. */
  take(character: string): boolean {
    this.skipSpace();
    return this.takeNow(character);
  }

  /** Takes a character that comes at once. */
  takeNow(character: string): boolean {
    if (this.#text[this.position] !== character) return false;
    this.position += 1;
    return true;
  }

  /** Takes an operator, and the spaces before it. It ends where a space, a bracket or a quote is. */
  takeWord(word: string): boolean {
    this.skipSpace();
    const isThere = this.#text.startsWith(word, this.position);
    if (!isThere || /[^\s()[\]"]/.test(this.#text[this.position + word.length] ?? ' ')) return false;
    this.position += word.length;
    return true;
  }

  /** The name of a field; empty where none is. */
  takeName(): string {
    return this.#match(/[a-z_]*/y);
  }

  takeKey(): string {
    return this.#match(/[^\s"()[\]:]*/y);
  }

  takeBare(): string {
    return this.#match(/[^\s"()[\]]*/y);
  }

  /** What is in quotes, without its backslashes; undefined where no quote is. */
  takeQuoted(): string | undefined {
    if (this.#text[this.position] !== '"') return undefined;
    const quoted = this.#match(/"(?:[^"\\]|\\["\\])*"/y);
    if (quoted === '') throw this.fault('the quotes are not closed, or a backslash stands before another character');
    return quoted.slice(1, -1).replace(/\\(["\\])/g, '$1');
  }

  /** The fault at this place, or so many characters from it. */
  fault(reason: string, offset = 0): ServiceError {
    return queryFault(this.position + offset, reason);
  }

  expected(what: string, offset = 0): ServiceError {
    return this.fault(`expected ${what}`, offset);
  }

  #match(sticky: RegExp): string {
    sticky.lastIndex = this.position;
    const [found] = sticky.exec(this.#text) ?? [''];
    this.position += found.length;
    return found;
  }
}
