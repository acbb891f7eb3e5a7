import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ArrivingBody, type BodyBytes, parsedBytes, type Reservation } from '@sluice/body-bytes';

/** A body is in memory as it arrives, in one piece, encrypted, and on its way to Postgres. */
const copies = 4;
/** A body up to this size is reserved at once, with everything that may be parsed from it. */
const smallBody = 16 * 1024;
const mostParsed = 22;
/** The buffers of the connection can take a response up to this size. */
export const smallAnswer = 64 * 1024;

export interface RequestMemory {
  body: Reservation;
  arriving: ArrivingBody;
  /** Includes memory for everything parsed from the body. */
  answer: Reservation;
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  tenantId: string;
  /** Zero if the operation takes no body. */
  limitBytes: number;
}

export function openRequestMemory(
  bodyBytes: BodyBytes,
  { request, response, tenantId, limitBytes }: Exchange,
): RequestMemory {
  const mostLength = Math.min(Number(request.headers['content-length'] ?? limitBytes), limitBytes);
  const arriving = { copies: mostLength <= smallBody ? copies + mostParsed : copies, mostLength };
  const shared = { tenantId, caller: response };
  return {
    body: bodyBytes.open({ ...shared, direction: 'request', mostBytes: arriving.copies * mostLength }),
    arriving,
    // Without a limit, because the size is not known in advance; the oldest response can always be finished.
    answer: bodyBytes.open({ ...shared, direction: 'answer', mostBytes: Number.POSITIVE_INFINITY }),
  };
}

/** Call before `json` is parsed. */
export function growToParse({ body, answer }: RequestMemory, json: Buffer): Promise<void> | undefined {
  const isReserved = body.bytes >= (copies + mostParsed) * json.length;
  return isReserved ? undefined : answer.grow(parsedBytes(json));
}

/** Call once the work is over. Bytes that the connection has not taken yet stay reserved until it has, or is closed. */
export function releaseOnceSent({ body, answer }: RequestMemory, response: ServerResponse): void {
  const [kept, over] = answer.bytes > 0 ? [answer, body] : [body, answer];
  over.release();
  const unsent = response.writableLength;
  if (unsent <= smallAnswer || response.destroyed) {
    kept.release();
    return;
  }
  kept.shrink(kept.bytes - unsent);
  response.once('close', () => kept.release());
}
