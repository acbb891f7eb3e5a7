import type { Context } from '../context.ts';
import type { Invocation } from '../proxies/invocation.ts';
import type { BodyDirection } from './body-bytes.ts';

/** A body, and what is put together of it. */
const copies = 2;
/** The text that its transform sees and what comes of it, while they wait for a thread or the destination. */
const copiesOfTransformed = 8;

export interface BodyToHold {
  direction: BodyDirection;
  /** As it comes; undefined where nobody says. */
  contentLength: number | undefined;
  isCoded: boolean;
  isTransformed: boolean;
}

/** The bytes of one body, which its invocation holds. */
export interface HeldBody {
  /** Undefined: it may be read at once. */
  readonly granted: Promise<void> | undefined;
  /** So many bytes it has, once it is read and decoded. */
  hasBytes(bytes: number): void;
  /** It streams after all. */
  isStreamed(): void;
}

/** Reserves what a body may take before any of it is read; it is given back when the invocation is over. */
export function holdBody(invocation: Invocation, body: BodyToHold, context: Context): HeldBody {
  const { bodyBytes, bodyLimitBytes } = context;
  const factor = body.isTransformed ? copiesOfTransformed : copies;
  const coded = Math.min(body.contentLength ?? bodyLimitBytes, bodyLimitBytes);
  const most = body.isCoded ? coded + bodyLimitBytes * factor : coded * factor;
  const reservation = bodyBytes.reserve(invocation.proxy.tenantId, most, body.direction);
  invocation.reservations.push(reservation);
  // The end of the invocation has already come and would never give it back.
  if (invocation.response.destroyed) reservation.release();
  return {
    granted: reservation.granted,
    hasBytes: (bytes) => reservation.shrinkTo(bytes * factor),
    isStreamed: () => reservation.shrinkTo(0),
  };
}
