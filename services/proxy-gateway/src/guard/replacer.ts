import type { Automaton } from './automaton.ts';
import { isOfBase64 } from './base64-forms.ts';
import type { Match } from './match-list.ts';
import { Scanner } from './scanner.ts';

/** Replaces matches in a text that comes in chunks, and holds back only what may begin one. */
export class Replacer {
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
    const undecided = this.#withHead(text, this.#scanner.undecidedFrom, this.#start, true);
    return this.#give(text, matches, this.#start + undecided);
  }

  /** @returns the end of the text. */
  end(): Buffer {
    return this.#give(this.#held, this.#scanner.end(), this.#start + this.#held.length);
  }

  #give(text: Buffer, matches: readonly Match[], until: number): Buffer {
    const start = this.#start;
    const end = Math.max(until, matches.at(-1)?.end ?? start);
    // A copy, because it must not keep a whole chunk in memory
    this.#held = end - start === text.length ? empty : Buffer.from(text.subarray(end - start));
    this.#start = end;
    const given = text.subarray(0, end - start);
    return matches.length === 0 ? given : this.#replaced(given, matches, start);
  }

  /** One buffer for all, because a text can be nothing but short matches. */
  #replaced(text: Buffer, matches: readonly Match[], start: number): Buffer {
    const replacements = matches.map(({ pattern }) =>
      this.#replacement(this.#automaton.patterns[pattern]?.value ?? -1),
    );
    const bytes = Buffer.allocUnsafe(replacements.reduce((sum, { length }) => sum + length, text.length));
    let from = 0;
    let written = 0;
    for (const [at, match] of matches.entries()) {
      const { hasHead = false } = this.#automaton.patterns[match.pattern] ?? {};
      const begins = Math.max(this.#withHead(text, match.start, start, hasHead), from);
      written += text.copy(bytes, written, from, begins);
      written += replacements[at]?.copy(bytes, written) ?? 0;
      from = match.end - start;
    }
    written += text.copy(bytes, written, from);
    return bytes.subarray(0, written);
  }

  /** Of a match in a text that starts at `start`. A character of base64 before it may carry bits of its value. */
  #withHead(text: Buffer, position: number, start: number, hasHead: boolean): number {
    const at = position - start;
    return hasHead && isOfBase64(text[at - 1]) ? at - 1 : at;
  }
}

const empty = Buffer.alloc(0);
