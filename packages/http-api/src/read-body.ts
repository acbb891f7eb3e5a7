import type { IncomingMessage } from 'node:http';
import { ServiceError, validationFailed } from '@sluice/problems';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A body as JSON, and how many bytes it had. */
export interface JsonBody {
  json: unknown;
  sizeBytes: number;
}

/**
 * Reads a JSON body.
 * @throws {ServiceError} `payload_too_large`, or a 400 that says where the fault is and never repeats what was sent.
 */
export async function readJsonBody(request: IncomingMessage, limitBytes: number): Promise<JsonBody> {
  const bytes = await readBytes(request, limitBytes);
  if (bytes.length === 0) throw validationFailed({ '': ['is required'] });
  try {
    return { json: JSON.parse(utf8.decode(bytes)), sizeBytes: bytes.length };
  } catch (error) {
    throw validationFailed({ '': [`is not valid JSON${whereOf(error)}`] });
  }
}

/** V8's messages quote the text around the fault; only the position is ours to tell. */
function whereOf(error: unknown): string {
  if (error instanceof TypeError) return ': it is not UTF-8';
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  return position ? ` (at position ${position})` : '';
}

async function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // Refused, its rest is still to be read, which a request that is destroyed cannot be.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > limitBytes) throw tooLarge(limitBytes);
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    throw new ServiceError('bad_request', 'The body ended before all of it had come', { cause });
  }
  return Buffer.concat(chunks);
}

function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError('payload_too_large', `The body may have at most ${limitBytes} bytes`);
}
