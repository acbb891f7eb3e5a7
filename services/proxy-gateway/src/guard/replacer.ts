import type { Automaton } from './automaton.ts';
import { isOfBase64 } from './base64-forms.ts';
import type { Match } from './match-list.ts';
import { Scanner } from './scanner.ts';

/** Replaces matches in a text that comes in chunks, and holds back only what may begin one. */
export class Replacer {
  /** By the index of a value, how often it was found. */
  readonly hits = new Map<number, number>();
  #automaton: Automaton;
  #scanner: Scanner;
  readonly #replacement: (value: number) => Buffer;
  /** What was read and not given yet. */
  #held: Buffer = empty;
  /** Where `#held` starts in the whole text. */
  #start = 0;

  constructor(automaton: Automaton, replacement: (value: number) => Buffer) {
    this.#automaton = automaton;
    this.#scanner = new Scanner(automaton);
    this.#replacement = replacement;
  }

  /**
   * From now on it finds these instead, also if they begin in what is held back. Values keep their indexes.
   * @returns what can be given of the text so far.
   */
  lookFor(automaton: Automaton): Buffer {
    const held = this.#held;
    this.#held = empty;
    this.#automaton = automaton;
    this.#scanner = new Scanner(automaton, this.#start);
    return this.read(held);
  }

  /** @returns what can be given of the text so far. It may be a part of `chunk` itself. */
  read(chunk: Buffer): Buffer {
    const matches = this.#scanner.read(chunk);
    const text = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    return this.#give(text, matches, this.#withHead(text, this.#scanner.undecidedFrom, true));
  }

  /** @returns the end of the text. */
  end(): Buffer {
    return this.#give(this.#held, this.#scanner.end(), this.#start + this.#held.length);
  }

  #give(text: Buffer, matches: readonly Match[], until: number): Buffer {
    const start = this.#start;
    const parts: Buffer[] = [];
    let from = start;
    for (const match of matches) {
      const { value, hasHead = false } = this.#automaton.patterns[match.pattern] ?? { value: -1 };
      const begins = Math.max(this.#withHead(text, match.start, hasHead), from);
      parts.push(text.subarray(from - start, begins - start), this.#replacement(value));
      from = match.end;
      this.hits.set(value, (this.hits.get(value) ?? 0) + 1);
    }
    const end = Math.max(until, from);
    // A copy, because it must not keep a whole chunk in memory
    this.#held = end - start === text.length ? empty : Buffer.from(text.subarray(end - start));
    this.#start = end;
    const rest = text.subarray(from - start, end - start);
    return parts.length === 0 ? rest : Buffer.concat([...parts, rest]);
  }

  /** A character of base64 before a match may carry bits of its value. */
  #withHead(text: Buffer, position: number, hasHead: boolean): number {
    return hasHead && isOfBase64(text[position - 1 - this.#start]) ? position - 1 : position;
  }
}

const empty = Buffer.alloc(0);
