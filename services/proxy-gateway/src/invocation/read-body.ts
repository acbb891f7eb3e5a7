import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { ServiceError } from '@sluice/problems';
import { contentCodings, decodeBody, decodeWhileStreaming, endedEarly } from '../http/content-coding.ts';

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
  if (!bytes) throw new ServiceError('payload_too_large', `The body may have at most ${limitBytes} bytes here`);
  const codings = codingsOf(request);
  return codings.length === 0 ? bytes : decodeBody(bytes, codings, limitBytes);
}

/** The body, decoded: whole if it fits, as a stream from its first byte if it does not. */
export async function readOrStreamBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | Readable> {
  const codings = codingsOf(request);
  const bytes = await collect(request, limitBytes);
  if (!bytes) return decodeWhileStreaming(request, codings);
  if (codings.length === 0) return bytes;
  try {
    return await decodeBody(bytes, codings, limitBytes);
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'payload_too_large')) throw error;
    return decodeWhileStreaming(Readable.from([bytes], { objectMode: false }), codings);
  }
}

function codingsOf({ headers }: IncomingMessage): string[] {
  return contentCodings(headers['content-encoding']);
}

/** Undefined if the body does not fit: then all that has come stands before what is still to be read. */
function collect(request: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  if (request.destroyed) throw endedEarly();
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) return Promise.resolve(undefined);
  const chunks: Buffer[] = [];
  if (request.complete && request.readableLength <= limitBytes) {
    // All of it came with the head: nothing has to be waited for
    for (let chunk = request.read(); chunk !== null; chunk = request.read()) chunks.push(chunk);
    return Promise.resolve(joined(chunks));
  }
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>();
  let size = 0;
  const onEnd = () => resolve(joined(chunks));
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size <= limitBytes) return;
    request.off('data', onData).off('end', onEnd).pause();
    for (const read of chunks.splice(0).reverse()) request.unshift(read);
    resolve(undefined);
  };
  request.on('data', onData);
  request.on('end', onEnd);
  request.on('error', reject);
  request.on('close', () => {
    // An error takes long to make, and after the end nobody hears of it.
    if (!request.readableEnded) reject(endedEarly());
  });
  return promise;
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return first && chunks.length === 1 ? first : Buffer.concat(chunks);
}
