import { text } from './parameters.ts';

/** Each takes Node.js less than a second, also where all characters are marks. */
const longestComparable = 2 ** 20;
/** Node.js sorts a run of marks step by step, so that a long one takes hours. Unicode calls for 30 at most (UAX #15). */
const tooManyMarks = /\p{M}{65}/u;
/** A name of a locale takes the square of its length. */
const longestCode = 4_096;

/** Nothing can stop a comparison, not even the end of its thread. */
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
