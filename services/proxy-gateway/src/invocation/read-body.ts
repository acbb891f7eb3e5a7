import type { IncomingMessage } from 'node:http';
import { ServiceError } from '@sluice/problems';
import { contentCodings, decodeBody } from './content-coding.ts';

/** Whether the request brings a body at all, by its framing (RFC 9112 section 6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * The whole body, decoded.
 * @throws {ServiceError} `payload_too_large` as soon as it is clear that it does not fit.
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const bytes = await collect(request, limitBytes);
  const codings = contentCodings(request.headers['content-encoding']);
  return codings.length === 0 ? bytes : decodeBody(bytes, codings, limitBytes);
}

function collect(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const tooLarge = () => new ServiceError('payload_too_large', `The body may have at most ${limitBytes} bytes here`);
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge();
  const endedEarly = () => new ServiceError('bad_request', 'The request ended before its body was whole');
  if (request.destroyed) throw endedEarly();
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limitBytes) {
      request.pause();
      reject(tooLarge());
    } else chunks.push(chunk);
  });
  request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size)));
  request.on('error', reject);
  request.on('close', () => reject(endedEarly()));
  return promise;
}
