import { type ServiceError, validationFailed } from '@sluice/problems';

/** Never quotes the query, which may contain the value that a token protects. */
export function queryFault(position: number, reason: string): ServiceError {
  return validationFailed({ query: [`at character ${position}: ${reason}`] });
}

export class QueryReader {
  readonly #text: string;
  /** Fields that the query may name. */
  readonly fields: readonly string[];
  /** In UTF-16 code units, from 0. */
  position = 0;

  constructor(text: string, fields: readonly string[]) {
    this.#text = text;
    this.fields = fields;
  }

  skipSpace(): void {
    this.#match(/\s*/y);
  }

  isAtEnd(): boolean {
    this.skipSpace();
    return this.position === this.#text.length;
  }

  take(character: string): boolean {
    this.skipSpace();
    return this.takeNow(character);
  }

  takeNow(character: string): boolean {
    if (this.#text[this.position] !== character) return false;
    this.position += 1;
    return true;
  }

  /** Skips spaces first. The operator must be followed by a space, a bracket or a quote. */
  takeWord(word: string): boolean {
    this.skipSpace();
    const isThere = this.#text.startsWith(word, this.position);
    if (!isThere || /[^\s()[\]"]/.test(this.#text[this.position + word.length] ?? ' ')) return false;
    this.position += word.length;
    return true;
  }

  takeName(): string {
    return this.#match(/[a-z_]*/y);
  }

  takeKey(): string {
    return this.#match(/[^\s"()[\]:]*/y);
  }

  takeBare(): string {
    return this.#match(/[^\s"()[\]]*/y);
  }

  /** Without its escapes; undefined if there is no quote here. */
  takeQuoted(): string | undefined {
    if (this.#text[this.position] !== '"') return undefined;
    const quoted = this.#match(/"(?:[^"\\]|\\["\\])*"/y);
    if (quoted === '')
      throw this.fault(
        'the quotes are not closed, or a backslash is before a character other than a quote or a backslash',
      );
    return quoted.slice(1, -1).replace(/\\(["\\])/g, '$1');
  }

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
