import type { MemoryPart } from './memory-part.ts';

/** A connection delivers no more than this at once. */
const pieceBytes = 64 * 1024;

export interface ArrivingBody {
  /** Number of copies of the body in memory while it is read. */
  copies: number;
  /** Its length, or if that is unknown the most that is read. */
  mostLength: number;
}

/**
 * Call before a body is read, and again after `arrived` bytes, so that memory for each piece is reserved before it is
 * read. It doubles the reservation: a body that does not arrive takes little memory, and a large body grows only a few
 * times.
 */
export function growAsItArrives(
  part: MemoryPart,
  arrived: number,
  { copies, mostLength }: ArrivingBody,
): Promise<void> | undefined {
  const { bytes } = part;
  const needed = copies * Math.min(arrived + pieceBytes, mostLength);
  if (needed <= bytes) return undefined;
  return part.growTo(Math.min(Math.max(needed, 2 * bytes), copies * mostLength));
}
