import { UsageError } from '@sluice/service-runtime/command-line';

/** Random choices that a seed repeats. */
export interface Random {
  /** From 0, below 1. */
  next(): number;
  between(min: number, max: number): number;
  /** @throws {RangeError} where there is nothing to pick from. */
  pick<T>(from: readonly T[]): T;
  chance(probability: number): boolean;
}

/** mulberry32: 32 bits of state, good enough to choose faults with. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (min, max) => min + next() * (max - min),
    pick<T>(from: readonly T[]): T {
      if (from.length === 0) throw new RangeError('There is nothing to pick from');
      return from[Math.floor(next() * from.length)] as T;
    },
    chance: (probability) => next() < probability,
  };
}

/** The seed that a person gave, or a new one where none is given. */
export function readSeed(text: string | undefined): number {
  if (text === undefined) return randomSeed();
  const seed = Number(text);
  if (Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31) return seed;
  throw new UsageError(`A seed is a whole number below 2^31; it is "${text}"`);
}

export const randomSeed = () => Math.floor(Math.random() * 2 ** 31);
