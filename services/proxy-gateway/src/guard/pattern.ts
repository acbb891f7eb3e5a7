/** How a value may be written, as bytes to look for. */
export interface Form {
  bytes: Buffer;
  /** If present, exactly one of these follows `bytes` and belongs to the match. */
  last?: readonly number[];
  /** The byte before a match carries bits of the value too, if it is a character of base64. */
  hasHead?: true;
}

export interface Pattern extends Form {
  /** The index of the value. */
  value: number;
}

/** How many states an automaton of them can have, at most. */
export function statesOf(patterns: readonly Pattern[]): number {
  return patterns.reduce((sum, { bytes, last }) => sum + bytes.length + (last?.length ?? 0), 1);
}
