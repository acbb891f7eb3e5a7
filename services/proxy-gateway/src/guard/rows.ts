/** Instead of a row: the state has none. */
export const noRow = -1;

/** In a row: what comes next must be asked of the automaton. */
export const unknown = -1;

/** A short text is read without rows, because making one takes longer than some steps. */
const visitsWithoutRows = 256;
const firstRows = 64;

/**
 * What follows a state, for each byte, as far as it is known. Rows are made when their states are visited, and filled as
 * bytes come, because most texts meet few of them.
 */
export class Rows {
  /** The row of the next state by the row of a state plus the byte; or {@link unknown}. The row of state 0 is 0. */
  next = new Int32Array(0);
  readonly #rows: Int32Array;
  /** By the number of a row. */
  readonly #states: Int32Array;
  #made = 0;
  #visits = 0;

  /** @param most states that may have a row: the first ones. */
  constructor(most: number) {
    this.#rows = new Int32Array(most).fill(noRow);
    this.#states = new Int32Array(most);
  }

  /** The most memory that they take, with those that they are copied from. */
  static bytesFor(most: number): number {
    return most * (256 * 4 * 1.5 + 2 * 4);
  }

  stateOf(row: number): number {
    return this.#states[row >>> 8] as number;
  }

  /** The row of a state that is visited. It may replace `next`. */
  of(state: number): number {
    const known = this.#rows[state] ?? noRow;
    if (known !== noRow || state >= this.#rows.length) return known;
    this.#visits += 1;
    if (this.#visits <= visitsWithoutRows) return noRow;
    if (this.#made === 0) this.#make(0);
    return state === 0 ? 0 : this.#make(state);
  }

  /** The byte leads from the state with this row to that state, and decides no match. */
  learn(row: number, byte: number, state: number): void {
    const next = this.of(state);
    if (next !== noRow) this.next[row + byte] = next;
  }

  #make(state: number): number {
    const row = this.#made * 256;
    if (row === this.next.length) this.#grow();
    this.#states[this.#made] = state;
    this.#rows[state] = row;
    this.#made += 1;
    return row;
  }

  #grow(): void {
    const count = Math.min(Math.max(2 * this.#made, firstRows), this.#rows.length);
    const next = new Int32Array(count * 256).fill(unknown, this.next.length);
    next.set(this.next);
    this.next = next;
  }
}
