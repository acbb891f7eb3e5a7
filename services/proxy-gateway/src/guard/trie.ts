import { randomInt } from 'node:crypto';
import type { Pieces } from '@sluice/service-runtime';
import { type Pattern, statesOf } from './pattern.ts';

/** They take less than a millisecond, also if they are the first to touch their memory. Ten values have fewer. */
export const statesOfPiece = 4 * 1024;

/** Nobody can choose values whose edges all have one hash. */
const multiplier = randomInt(2 ** 30) * 2 + 1;

/**
 * The beginnings of all patterns, as states that are numbered by their depth. State 0 is the empty one. An edge is a state
 * and a byte; a hash table finds the state that it leads to.
 */
export class Trie {
  readonly depths: Uint32Array;
  /** The number of the pattern that a state is, from 1; otherwise 0. */
  readonly patterns: Int32Array;
  /** The first state of each depth. */
  readonly levels: number[] = [0];
  size = 1;
  readonly #edges: Int32Array;
  readonly #slots: Int32Array;
  readonly #shift: number;

  private constructor(mostStates: number) {
    const slots = slotsFor(mostStates);
    this.depths = new Uint32Array(mostStates);
    this.patterns = new Int32Array(mostStates);
    this.#edges = new Int32Array(mostStates);
    this.#slots = new Int32Array(slots);
    this.#shift = Math.clz32(slots) + 1;
  }

  static bytesFor(states: number): number {
    return states * 3 * 4 + slotsFor(states) * 4;
  }

  /** Adds one byte of each pattern after the other, so that states are in the order of their depths. */
  static *build(patterns: readonly Pattern[]): Pieces<Trie> {
    const trie = new Trie(statesOf(patterns));
    const states = new Int32Array(patterns.length);
    let longer = [...patterns.keys()];
    let inPiece = 0;
    for (let depth = 0; longer.length > 0; depth++) {
      trie.levels.push(trie.size);
      const left: number[] = [];
      for (const index of longer) {
        const { bytes, last } = patterns[index] as Pattern;
        const state = states[index] ?? 0;
        if (depth === bytes.length) {
          for (const byte of last ?? []) trie.#end(trie.#add(state, byte, depth + 1), index);
          continue;
        }
        const next = trie.#add(state, bytes[depth] ?? 0, depth + 1);
        states[index] = next;
        if (depth + 1 === bytes.length && !last) trie.#end(next, index);
        else left.push(index);
      }
      inPiece += longer.length;
      longer = left;
      if (inPiece < statesOfPiece) continue;
      yield;
      inPiece = 0;
    }
    return trie;
  }

  /** 0 if there is none. */
  childOf(state: number, byte: number): number {
    return this.#slots[this.#slotOf((state << 8) | byte)] ?? 0;
  }

  edgeTo(state: number): { parent: number; byte: number } {
    const edge = this.#edges[state] ?? 0;
    return { parent: edge >>> 8, byte: edge & 0xff };
  }

  #add(parent: number, byte: number, depth: number): number {
    const edge = (parent << 8) | byte;
    const slot = this.#slotOf(edge);
    const known = this.#slots[slot] ?? 0;
    if (known !== 0) return known;
    const state = this.size++;
    this.#slots[slot] = state;
    this.#edges[state] = edge;
    this.depths[state] = depth;
    return state;
  }

  #end(state: number, pattern: number): void {
    if (this.patterns[state] === 0) this.patterns[state] = pattern + 1;
  }

  /** The slot of an edge, or the free one where it belongs. */
  #slotOf(edge: number): number {
    const last = this.#slots.length - 1;
    let slot = Math.imul(edge, multiplier) >>> this.#shift;
    for (;;) {
      const state = this.#slots[slot] ?? 0;
      if (state === 0 || this.#edges[state] === edge) return slot;
      slot = (slot + 1) & last;
    }
  }
}

/** At most half of them are in use. */
function slotsFor(states: number): number {
  return 2 ** (33 - Math.clz32(states));
}
