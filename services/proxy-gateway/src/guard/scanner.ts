import type { Automaton } from './automaton.ts';
import type { Match } from './match-list.ts';
import { noRow, unknown } from './rows.ts';

/** Finds the matches in a text that comes in chunks. */
export class Scanner {
  readonly #automaton: Automaton;
  #state = 0;
  #position: number;
  #matches: Match[] = [];
  readonly #found = (pattern: number, start: number, end: number) => void this.#matches.push({ pattern, start, end });

  /** @param position of the first byte that it will read, in the whole text. */
  constructor(automaton: Automaton, position = 0) {
    this.#automaton = automaton;
    this.#position = position;
  }

  /** What lies before it is in no match that will be found. */
  get undecidedFrom(): number {
    return this.#position - this.#automaton.depthOf(this.#state);
  }

  /** @returns the matches that are decided now, in their order, with positions in the whole text. */
  read(chunk: Uint8Array): Match[] {
    const automaton = this.#automaton;
    const { rows, skips } = automaton;
    const { length } = chunk;
    // In state 0 the text is read in large steps, or like any other
    const stop = skips.areKnown ? 0 : unknown;
    let state = this.#state;
    let at = 0;
    while (at < length) {
      if (state === 0) at = skips.next(chunk, at);
      let row = rows.of(state);
      if (row !== noRow) {
        const table = rows.next;
        let next = unknown;
        while (at < length) {
          next = table[row + (chunk[at] as number)] as number;
          if (next <= stop) break;
          row = next;
          at += 1;
        }
        state = next === 0 ? 0 : rows.stateOf(row);
        if (at === length) break;
        if (next === 0) {
          at += 1;
          continue;
        }
      }
      state = this.#step(state, row, chunk[at] as number, this.#position + at);
      at += 1;
    }
    this.#state = state;
    this.#position += length;
    return this.#take();
  }

  /** @returns the last matches. */
  end(): Match[] {
    while (this.#state !== 0) this.#state = this.#automaton.rest(this.#state, this.#position, this.#found);
    return this.#take();
  }

  /** What decides no match is the same for each text, so the row learns it. */
  #step(state: number, row: number, byte: number, position: number): number {
    const decided = this.#matches.length;
    const next = this.#automaton.step(state, byte, position, this.#found);
    if (row !== noRow && this.#matches.length === decided) this.#automaton.rows.learn(row, byte, next);
    return next;
  }

  #take(): Match[] {
    const matches = this.#matches;
    if (matches.length > 0) this.#matches = [];
    return matches;
  }
}
