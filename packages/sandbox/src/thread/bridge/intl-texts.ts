import { text } from './parameters.ts';

/** A comparison then takes Node.js less than a second, even if all characters are marks. */
const longestComparable = 2 ** 20;
/** Node.js sorts a run of marks step by step, so that a long one takes hours. Unicode requires 30 at most (UAX #15). */
const tooManyMarks = /\p{M}{65}/u;
/** Reading a name of a locale takes time quadratic in its length. */
const longestCode = 4_096;

/** Nothing can stop a comparison, not even the end of its thread, so its texts are limited. */
export function comparable(value: unknown): string {
  const given = text(value);
  if (given.length > longestComparable) throw new RangeError('The text is too long to be compared in a locale');
  if (tooManyMarks.test(given)) throw new RangeError('More than 64 combining marks in a row cannot be compared');
  return given;
}

export function displayCode(value: unknown): string {
  if (text(value).length > longestCode) throw new RangeError('The code is too long');
  return text(value);
}
