import type { ServerResponse } from 'node:http';
import type { BodyDirection, Reservation } from '@sluice/body-bytes';
import type { Context } from '../context.ts';

/** The received body, and the body assembled from it. */
export const copies = 2;
/** The text that the transform sees and its results, while they wait for a thread or the destination. */
const copiesOfTransformed = 8;

export interface BodyOwner {
  readonly tenantId: string;
  /** Undefined if no caller waits. */
  readonly response: ServerResponse | undefined;
  readonly held: Held;
}

/** Kept until the caller has its response or has left, and all work has ended. */
export type Held = Partial<Record<BodyDirection | 'decoder', Pick<Reservation, 'release'>>> &
  Partial<Record<BodyDirection, Reservation>>;

interface Size {
  /** If unknown, the limit for reading. */
  length: number;
  isCoded?: boolean;
  isTransformed: boolean;
}

/** The one reservation of the body in this direction. `mostBytes` counts only in the first call, which opens it. */
export function memoryOf(
  { held, tenantId, response }: BodyOwner,
  direction: BodyDirection,
  { bodyBytes }: Pick<Context, 'bodyBytes'>,
  mostBytes = 0,
): Reservation {
  held[direction] ??= bodyBytes.open({ tenantId, direction, mostBytes, ...(response && { caller: response }) });
  return held[direction];
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

/** Releases memory that a body of `length` no longer needs; it may still grow to `mostBytes`. */
export function keepOnly(memory: Reservation, length: number, mostBytes = 0): void {
  const bytes = length * copies;
  memory.shrink(memory.bytes - bytes, Math.max(mostBytes - bytes, 0));
}
