/** What stands at a position where a boundary can begin a line. */
export type Delimiter =
  /** A part follows behind `end`. */
  | { kind: 'part'; start: number; end: number }
  /** No part follows. */
  | { kind: 'close'; start: number; end: number }
  /** More has to come before it can be told. */
  | { kind: 'unfinished'; start: number }
  /** Some readers would see a delimiter here, others not. */
  | { kind: 'uncertain'; start: number };

/** Where in a text the search begins. */
export interface Search {
  from: number;
  /** Whether a part's content begins there, or the body. In the middle of a content the first two bytes have been searched. */
  begins: 'content' | 'body' | undefined;
  isLast: boolean;
}

/**
 * Finds delimiters as every reader does: CRLF, two hyphens, the boundary, then CRLF, or two hyphens and the end of a
 * line. Padding behind the boundary, bare line breaks and a boundary right behind a part's header are uncertain, since
 * readers disagree on them. `start` is that of the line break, which belongs to the delimiter.
 */
export class DelimiterFinder {
  readonly #dashBoundary: string;

  constructor(boundary: string) {
    this.#dashBoundary = `--${boundary}`;
  }

  /** So many bytes at the end of a text may be the beginning of a delimiter, or come before one. */
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

  /** Whether some reader would see a delimiter in the content of a part. */
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
