import type { Context } from '../context.ts';

/** The received body, and the body assembled from it. */
export const copies = 2;
/** The text that the transform sees and its results, while they wait for a thread or the destination. */
const copiesOfTransformed = 8;

interface Size {
  /** If unknown, the limit for reading. */
  length: number;
  isCoded?: boolean;
  isTransformed: boolean;
}

type Limits = Pick<Context, 'bodyLimitBytes' | 'budgets'>;

/** The most memory that a body may take in all. */
export function mostBytesOf({ length, isCoded = false, isTransformed }: Size, limits: Limits): number {
  const decoded = isCoded ? limits.bodyLimitBytes : length;
  return (isCoded ? length : 0) + (isTransformed ? bytesToRun(decoded, limits) : decoded * copies);
}

/** Before it is decoded, its decoded length can be anything up to the limit. */
export function bytesWhileDecoding(codedLength: number, { bodyLimitBytes }: Pick<Limits, 'bodyLimitBytes'>): number {
  return codedLength + bodyLimitBytes * copies;
}

/** While code runs on a body of `length`. */
export function bytesToRun(length: number, { budgets }: Pick<Limits, 'budgets'>): number {
  return length * copiesOfTransformed + budgets.resultBytes;
}
