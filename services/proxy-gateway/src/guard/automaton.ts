import type { Pieces } from '@sluice/service-runtime';
import { MatchList, noMatches } from './match-list.ts';
import { type Pattern, statesOf } from './pattern.ts';
import { Rows } from './rows.ts';
import { Skips } from './skips.ts';
import { statesOfPiece, Trie } from './trie.ts';

/** States that may have a row. Most bytes of a text meet only the first states, those of short beginnings. */
function statesWithRows(patterns: readonly Pattern[]): number {
  return Math.min(Math.max(256, 4 * patterns.length), 8 * 1024);
}

/** A match is added at its place in the text. */
export type Found = (pattern: number, start: number, end: number) => void;

/**
 * Finds the leftmost of all matches, of those the longest, and goes on behind it; so matches do not overlap. It reads
 * each byte once, whatever the patterns and the text are (after Aho and Corasick, 1975).
 *
 * A state stands for the text from the earliest place where a match can begin. Its text begins a pattern, and may hold a
 * whole one: the longest of those that begin it is its `match`. If the next byte continues no pattern, this match is
 * decided, and reading goes on as if the text had begun behind it. What comes of that is known beforehand, because the
 * text is the state's own: the matches that were decided meanwhile (`decided`), and the state then (`rest`).
 */
export class Automaton {
  readonly rows: Rows;
  readonly patterns: readonly Pattern[];
  readonly skips: Skips;
  readonly #trie: Trie;
  /** Numbers of patterns, from 1. */
  readonly #matches: Int32Array;
  readonly #rests: Int32Array;
  readonly #decided = new MatchList();
  readonly #decidedOf: Int32Array;

  private constructor(patterns: readonly Pattern[], trie: Trie) {
    this.patterns = patterns;
    this.skips = new Skips(patterns);
    this.#trie = trie;
    this.rows = new Rows(Math.min(trie.size, statesWithRows(patterns)));
    this.#matches = new Int32Array(trie.size);
    this.#rests = new Int32Array(trie.size);
    this.#decidedOf = new Int32Array(trie.size);
  }

  /** The most memory that it takes. */
  static bytesFor(patterns: readonly Pattern[]): number {
    const states = statesOf(patterns);
    return Trie.bytesFor(states) + states * 3 * 4 + Rows.bytesFor(statesWithRows(patterns)) + Skips.bytes;
  }

  /** No pattern may be empty. Of equal ones the first counts. */
  static *build(patterns: readonly Pattern[]): Pieces<Automaton> {
    const automaton = new Automaton(patterns, yield* Trie.build(patterns));
    yield* automaton.#connect();
    return automaton;
  }

  depthOf(state: number): number {
    return this.#trie.depths[state] ?? 0;
  }

  /** Reads a byte at `position` of the text. @returns the next state. */
  step(from: number, byte: number, position: number, found: Found): number {
    for (let state = from; ; state = this.rest(state, position, found)) {
      const child = this.#trie.childOf(state, byte);
      if (child !== 0 || state === 0) return child;
    }
  }

  /** The text ends at `end`, or goes on with a byte that continues no pattern. @returns the state of what is left of it. */
  rest(state: number, end: number, found: Found): number {
    const start = end - this.depthOf(state);
    const match = this.#matches[state] ?? 0;
    if (match > 0) found(match - 1, start, start + this.#lengthOf(match - 1));
    const decided = this.#decidedOf[state] ?? noMatches;
    if (decided !== noMatches) {
      for (const each of this.#decided.upTo(decided)) found(each.pattern, start + each.start, start + each.end);
    }
    return this.#rests[state] ?? 0;
  }

  #lengthOf(pattern: number): number {
    const { bytes, last } = this.patterns[pattern] as Pattern;
    return bytes.length + (last ? 1 : 0);
  }

  /** States are numbered by their depth, so what a state refers to is complete before it. */
  *#connect(): Pieces<void> {
    const { levels } = this.#trie;
    for (let level = 1; level < levels.length; level++) {
      const [start, end] = [levels[level] as number, levels[level + 1] ?? this.#trie.size];
      for (let state = start; state < end; state++) {
        this.#continue(state);
        if (state % statesOfPiece === 0) yield;
      }
    }
  }

  /** What is left of a state's text is what is left of its parent's, and one byte more. */
  #continue(state: number): void {
    const own = this.#trie.patterns[state] ?? 0;
    const { parent, byte } = this.#trie.edgeTo(state);
    this.#matches[state] = own > 0 ? own : (this.#matches[parent] ?? 0);
    if (own > 0 || parent === 0) return;
    let decided = this.#decidedOf[parent] ?? noMatches;
    const add = (pattern: number, start: number, end: number) => {
      decided = this.#decided.add(decided, { pattern, start, end });
    };
    this.#rests[state] = this.step(this.#rests[parent] ?? 0, byte, this.depthOf(parent), add);
    this.#decidedOf[state] = decided;
  }
}
