import { type Automaton, needsStep } from './automaton.ts';
import type { Match } from './match-list.ts';

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
    const { table, denseStates } = automaton;
    const { length } = chunk;
    let state = this.#state;
    let at = 0;
    while (at < length) {
      if (state < denseStates) {
        let row = state * 256;
        while (at < length) {
          const next = table[row + (chunk[at] as number)] as number;
          if (next === needsStep) break;
          row = next;
          at += 1;
        }
        state = row >>> 8;
        if (at === length) break;
      }
      state = automaton.step(state, chunk[at] as number, this.#position + at, this.#found);
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

  #take(): Match[] {
    const matches = this.#matches;
    if (matches.length > 0) this.#matches = [];
    return matches;
  }
}
