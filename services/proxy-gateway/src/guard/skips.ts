import type { Pattern } from './pattern.ts';

/** A longer beginning of a pattern is not looked at, because the end of a chunk that is shorter than it is read slowly. */
const mostBytes = 32;
/** Of so many bytes a slot is made. */
const bytesOfSlot = 3;
const slots = 8 * 1024;
/** With more patterns, most slots say that one may begin. */
const mostPatterns = 1024;

/**
 * Tells in large steps where a pattern may begin, by three bytes of the text (after Wu and Manber, 1994). All patterns
 * have `length` bytes or more. If one began less than `length - 3` bytes before the three, it would have them at that
 * place; the table has the nearest such beginning.
 */
export class Skips {
  /** The most memory that it takes. */
  static readonly bytes = slots;
  readonly #length: number;
  readonly #steps: Uint8Array | undefined;

  constructor(patterns: readonly Pattern[]) {
    const shortest = patterns.reduce((least, pattern) => Math.min(least, pattern.bytes.length), mostBytes);
    this.#length = shortest;
    if (shortest < bytesOfSlot || patterns.length > mostPatterns) return;
    this.#steps = new Uint8Array(slots).fill(shortest - bytesOfSlot + 1);
    for (const { bytes } of patterns) {
      for (let end = bytesOfSlot; end <= shortest; end++) {
        const slot = slotOf(bytes[end - 3] as number, bytes[end - 2] as number, bytes[end - 1] as number);
        this.#steps[slot] = Math.min(this.#steps[slot] as number, shortest - end);
      }
    }
  }

  /** Whether there are any. */
  get areKnown(): boolean {
    return this.#steps !== undefined;
  }

  /** From `at` on, where a pattern may begin. In the last bytes of a chunk it may begin anywhere. */
  next(chunk: Uint8Array, at: number): number {
    const steps = this.#steps;
    if (!steps) return at;
    let end = at + this.#length;
    const { length } = chunk;
    while (end <= length) {
      const slot = slotOf(chunk[end - 3] as number, chunk[end - 2] as number, chunk[end - 1] as number);
      const step = steps[slot] as number;
      if (step === 0) break;
      end += step;
    }
    return end - this.#length;
  }
}

function slotOf(first: number, second: number, third: number): number {
  return ((first << 6) ^ (second << 3) ^ third) & (slots - 1);
}
