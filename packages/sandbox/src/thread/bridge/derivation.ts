import { createHash, pbkdf2Sync, scryptSync } from 'node:crypto';
import type { Meter } from '../meter.ts';
import { bytes, digestName, integer } from './parameters.ts';

const maximumKeyBytes = 2 ** 20;
const largestCount = 2 ** 31 - 1;
/** This many rounds take about a millisecond and need no forecast. */
const fewRounds = 1_000;
const trialCost = 256;

/** Milliseconds of a round by kind: the minimum measured in this thread, because a busy machine only adds to it. */
const msPerRound = new Map<string, number>();

/** These functions cannot be stopped. So a trial forecasts their time, and the run must have that much left. */
export function derivationOperations(meter: Meter) {
  return {
    pbkdf2: (password: unknown, salt: unknown, rounds: unknown, size: unknown, digest: unknown) => {
      const [iterations, keyBytes, algorithm] = [
        integer(rounds, largestCount),
        integer(size, maximumKeyBytes),
        digestName(digest),
      ];
      const [key, saltBytes] = [bytes(password), bytes(salt)];
      const run = (count: number, length: number) => pbkdf2Sync(key, saltBytes, count, length, algorithm);
      if (iterations <= fewRounds && keyBytes <= fewRounds) return run(iterations, keyBytes).toString('base64');
      const msOfRound = rate(algorithm, fewRounds, () => pbkdf2Sync('', '', fewRounds, 1, algorithm));
      const blocks = Math.ceil(keyBytes / createHash(algorithm).digest().length);
      meter.spend(iterations * blocks * msOfRound);
      return run(iterations, keyBytes).toString('base64');
    },

    scrypt: (password: unknown, salt: unknown, size: unknown, options: unknown) => {
      const { N = 16_384, r = 8, p = 1, maxmem = 32 * 2 ** 20 } = Object(options);
      const keyBytes = integer(size, maximumKeyBytes);
      const parameters = { N: integer(N, largestCount), r: integer(r, largestCount), p: integer(p, largestCount) };
      const memory = 128 * parameters.r * (parameters.N + parameters.p);
      const given = { ...parameters, maxmem: integer(maxmem, Number.MAX_SAFE_INTEGER) };
      const run = (limits: object) => scryptSync(bytes(password), bytes(salt), keyBytes, limits).toString('base64');
      // Node.js refuses this before it begins.
      if (memory > given.maxmem) return run(given);
      meter.hold(memory);
      const perCost = rate('scrypt', trialCost * 8, () => scryptSync('', '', 1, { N: trialCost, r: 8, p: 1 }));
      meter.spend(parameters.N * parameters.r * parameters.p * perCost);
      return run(given);
    },
  };
}

function rate(kind: string, rounds: number, trial: () => unknown): number {
  let least = msPerRound.get(kind) ?? Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const startedAt = performance.now();
    trial();
    least = Math.min(least, (performance.now() - startedAt) / rounds);
  }
  msPerRound.set(kind, least);
  return least;
}
