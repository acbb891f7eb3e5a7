import type { IncomingMessage } from 'node:http';
import { growAsItArrives, type Reservation } from '@sluice/body-bytes';
import { endedEarly, ServiceError, validationFailed } from '@sluice/problems';
import { arrivingBody, growToParse } from './request-memory.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface JsonBody {
  json: unknown;
  /** The text from which `json` was parsed, if the operation takes it. */
  text?: string;
  sizeBytes: number;
}

/** @throws {ServiceError} `payload_too_large`, or a 400 with the position of the fault. */
export async function readJsonBody(
  request: IncomingMessage,
  limitBytes: number,
  memory: Reservation,
): Promise<Required<JsonBody>> {
  const bytes = await readBytes(request, limitBytes, memory);
  if (bytes.length === 0) throw validationFailed({ '': ['is required'] });
  const room = growToParse(memory, bytes);
  if (room) await room;
  try {
    const text = utf8.decode(bytes);
    return { json: JSON.parse(text), text, sizeBytes: bytes.length };
  } catch (error) {
    throw validationFailed({ '': [`is not valid JSON${whereOf(error)}`] });
  }
}

/** Takes only the position from V8's message, because that message quotes the text around the fault. */
function whereOf(error: unknown): string {
  if (error instanceof TypeError) return ': it is not UTF-8';
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  return position ? ` (at position ${position})` : '';
}

async function readBytes(request: IncomingMessage, limitBytes: number, memory: Reservation): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  const arriving = arrivingBody(request, limitBytes);
  const body = memory.part('request', arriving.copies * arriving.mostLength);
  const first = growAsItArrives(body, 0, arriving);
  if (first) await first;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // The request must stay open, because the rest of a refused body is still to be read.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > limitBytes) throw tooLarge(limitBytes);
      chunks.push(chunk);
      const room = growAsItArrives(body, size, arriving);
      if (room) await room;
    }
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    throw endedEarly(cause);
  }
  return Buffer.concat(chunks);
}

function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError('payload_too_large', `The body may have at most ${limitBytes} bytes`, { limit: 'body_size' });
}
