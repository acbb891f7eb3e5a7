import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ArrivingBody, type MemoryPart, parsedBytes, type Reservation } from '@sluice/body-bytes';

/** A body is in memory as it arrives, in one piece, encrypted, and on its way to Postgres. */
const copies = 4;
/** A body up to this size is reserved at once, with everything that may be parsed from it. */
const smallBody = 16 * 1024;
const mostParsed = 22;
/** The buffers of the connection can take a response up to this size. */
export const smallAnswer = 64 * 1024;

export function arrivingBody({ headers }: IncomingMessage, limitBytes: number): ArrivingBody {
  const mostLength = Math.min(Number(headers['content-length'] ?? limitBytes), limitBytes);
  return { copies: mostLength <= smallBody ? copies + mostParsed : copies, mostLength };
}

/**
 * Includes memory for everything parsed from the body. Without a limit, because the size is not known in advance; the
 * oldest response can always be finished.
 */
export function answerPart(memory: Reservation): MemoryPart {
  return memory.part('answer', Number.POSITIVE_INFINITY);
}

/** Call before `json` is parsed. */
export function growToParse(memory: Reservation, json: Buffer): Promise<void> | undefined {
  const isReserved = memory.part('request').bytes >= (copies + mostParsed) * json.length;
  return isReserved ? undefined : answerPart(memory).grow(parsedBytes(json));
}

/** Call once the work is over. Bytes that the connection has not taken yet stay reserved until it has, or is closed. */
export function releaseOnceSent(memory: Reservation, response: ServerResponse): void {
  const unsent = response.writableLength;
  if (unsent <= smallAnswer || response.destroyed) {
    memory.release();
    return;
  }
  const [answer, body] = [answerPart(memory), memory.part('request')];
  const [kept, over] = answer.bytes > 0 ? [answer, body] : [body, answer];
  over.release();
  kept.shrinkTo(unsent);
  response.once('close', () => memory.release());
}
