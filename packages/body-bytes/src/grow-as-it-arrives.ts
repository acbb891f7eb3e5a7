import type { Reservation } from './body-bytes.ts';

/** No more than this comes at once from a connection. */
const pieceBytes = 64 * 1024;

export interface ArrivingBody {
  /** How often the body is in memory while it is read. */
  copies: number;
  /** Its length, or where that is unknown the most that is read. */
  mostLength: number;
}

/**
 * Call before a body is read, and again after `arrived` bytes before more is read, so that memory is reserved for each piece. It
 * doubles the reservation: a body that does not arrive takes little memory, and a large body grows only a few times.
 */
export function growAsItArrives(
  reservation: Reservation,
  arrived: number,
  { copies, mostLength }: ArrivingBody,
): Promise<void> | undefined {
  const { bytes } = reservation;
  const needed = copies * Math.min(arrived + pieceBytes, mostLength);
  if (needed <= bytes) return undefined;
  return reservation.grow(Math.min(Math.max(needed, 2 * bytes), copies * mostLength) - bytes);
}
