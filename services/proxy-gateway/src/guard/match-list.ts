export interface Match {
  /** The index of the pattern. */
  pattern: number;
  start: number;
  end: number;
}

/** The list without a match. */
export const noMatches = 0;

/** Many lists that share their beginnings. A list is named by the number of its last match. */
export class MatchList {
  readonly #matches: (Match & { before: number })[] = [];

  /** @returns the list of `before` and `match`. */
  add(before: number, match: Match): number {
    return this.#matches.push({ ...match, before });
  }

  /** From the first to the last. */
  upTo(list: number): Match[] {
    const matches: Match[] = [];
    for (let at = list; at !== noMatches; at = this.#matches[at - 1]?.before ?? noMatches) {
      matches.push(this.#matches[at - 1] as Match);
    }
    return matches.reverse();
  }
}
