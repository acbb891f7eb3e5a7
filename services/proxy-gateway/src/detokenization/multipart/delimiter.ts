export type Delimiter =
  | { kind: 'part'; start: number; end: number }
  | { kind: 'close'; start: number; end: number }
  | { kind: 'unfinished'; start: number }
  /** Some parsers see a delimiter here, others do not. */
  | { kind: 'uncertain'; start: number };

export interface Search {
  from: number;
  /** Undefined inside a content, whose first two bytes have already been searched. */
  begins: 'content' | 'body' | undefined;
  isLast: boolean;
}

/**
 * Finds delimiters on which all parsers agree. One with padding, a bare line break, or directly after a header is
 * uncertain.
 */
export class DelimiterFinder {
  readonly #dashBoundary: string;

  constructor(boundary: string) {
    this.#dashBoundary = `--${boundary}`;
  }

  /** Number of bytes at the end of a text that may be the beginning of a delimiter. */
  get tailBytes(): number {
    return this.#dashBoundary.length + 1;
  }

  find(text: string, { from, begins, isLast }: Search): Delimiter | undefined {
    const first = begins === undefined ? from + 2 : from;
    for (let at = text.indexOf(this.#dashBoundary, first); at !== -1; ) {
      if (at === from && begins === 'body') return this.#classify(text, { start: at, at, isLast });
      const isLineStart = at === from || text[at - 1] === '\n' || text[at - 1] === '\r';
      if (isLineStart) {
        const isWhole = at - 2 >= from && text.startsWith('\r\n', at - 2);
        return isWhole ? this.#classify(text, { start: at - 2, at, isLast }) : { kind: 'uncertain', start: at };
      }
      at = text.indexOf(this.#dashBoundary, at + 1);
    }
    return undefined;
  }

  /** Whether some parser would see a delimiter in the content of a part. */
  isIn(content: string): boolean {
    return this.find(content, { from: 0, begins: 'content', isLast: true }) !== undefined;
  }

  #classify(text: string, { start, at, isLast }: { start: number; at: number; isLast: boolean }): Delimiter {
    const behind = at + this.#dashBoundary.length;
    const next = text.slice(behind, behind + 4);
    if (next.startsWith('\r\n')) return { kind: 'part', start, end: behind + 2 };
    if (next === '--\r\n') return { kind: 'close', start, end: behind + 4 };
    if (isLast && next === '--') return { kind: 'close', start, end: behind + 2 };
    const canGrow = !isLast && ('\r\n'.startsWith(next) || '--\r\n'.startsWith(next));
    return canGrow ? { kind: 'unfinished', start } : { kind: 'uncertain', start };
  }
}
