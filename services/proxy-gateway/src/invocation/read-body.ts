import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { type ArrivingBody, growAsItArrives, type Reservation } from '@sluice/body-bytes';
import { endedEarly, ServiceError } from '@sluice/problems';
import { contentCodings, decodeBody, decodeWhileStreaming, streamedDecoderBytes } from '../http/content-coding.ts';
import { WholeRequest } from '../http/whole-request.ts';
import { bytesWhileDecoding } from '../limits/body-memory.ts';

/** Judges by the framing (RFC 9112 section 6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

export interface Reading {
  memory: Reservation;
  arriving: ArrivingBody;
  decode: typeof decodeBody | undefined;
  /** Time limit for receiving the whole body, not counting time spent waiting for memory. */
  timeoutMs: number;
}

/** @throws {ServiceError} `payload_too_large` once the body cannot fit, `request_timeout`, and the errors of `memory`. */
export async function readBody(request: IncomingMessage, limitBytes: number, reading?: Reading): Promise<Buffer> {
  const bytes = await collect(request, limitBytes, reading);
  if (bytes === 'late') throw new ServiceError('request_timeout', 'The body was not received in time');
  if (bytes === 'too large') {
    throw new ServiceError(
      'payload_too_large',
      `This body must be buffered, so it may have at most ${limitBytes} bytes`,
      {
        limit: 'body_size',
      },
    );
  }
  const codings = codingsOf(request);
  return codings.length === 0 ? bytes : decodeHeld(bytes, { codings, limitBytes }, reading);
}

async function decodeHeld(
  bytes: Buffer,
  { codings, limitBytes }: { codings: readonly string[]; limitBytes: number },
  reading: Reading | undefined,
): Promise<Buffer> {
  if (reading) {
    await reading.memory.part('request').growTo(bytesWhileDecoding(bytes.length, { bodyLimitBytes: limitBytes }));
  }
  return (reading?.decode ?? decodeBody)(bytes, codings, limitBytes);
}

/** In memory if the body fits and comes in time, otherwise a stream from its first byte. */
export async function readOrStreamBody(
  request: IncomingMessage,
  limitBytes: number,
  reading?: Reading,
): Promise<Buffer | Readable> {
  const codings = codingsOf(request);
  const bytes = await collect(request, limitBytes, reading);
  if (!Buffer.isBuffer(bytes)) return decodeStream(request, codings, reading);
  return codings.length === 0 ? bytes : decodeOrStream(bytes, { codings, limitBytes }, reading);
}

async function decodeOrStream(
  bytes: Buffer,
  coded: { codings: readonly string[]; limitBytes: number },
  reading: Reading | undefined,
): Promise<Buffer | Readable> {
  try {
    return await decodeHeld(bytes, coded, reading);
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'payload_too_large')) throw error;
    keepUnread(reading, bytes.length);
    const again = Readable.from(chunksOf(bytes), { objectMode: false });
    again.once('end', () => noteRead(reading, bytes.length));
    return decodeStream(again, coded.codings, reading);
  }
}

async function decodeStream(
  body: Readable,
  codings: readonly string[],
  reading: Reading | undefined,
): Promise<Readable> {
  if (codings.length === 0) return body;
  const decoder = reading?.memory.part('decoder');
  await decoder?.grow(streamedDecoderBytes(codings));
  return decodeWhileStreaming(body, codings).once('close', () => decoder?.release());
}

/** As one chunk they would be read at once, and then wait in the decoder. */
function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

const chunkBytes = 64 * 1024;

function codingsOf({ headers }: IncomingMessage): string[] {
  return contentCodings(headers['content-encoding']);
}

/** A body that has arrived whole, in one chunk. Undefined for any other, which {@link readBody} reads. */
export function takeWholeBody(request: IncomingMessage, limitBytes: number): Buffer | undefined {
  return request instanceof WholeRequest ? request.takeWhole(limitBytes) : undefined;
}

/** If the body does not fit or is late, the bytes that were read are put back in front of the rest. */
async function collect(
  request: IncomingMessage,
  limitBytes: number,
  reading: Reading | undefined,
): Promise<Buffer | 'too large' | 'late'> {
  if (request.destroyed) throw endedEarly();
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
    keepUnread(reading, 0);
    return 'too large';
  }
  const whole = takeWholeBody(request, limitBytes);
  if (whole) return whole;
  const chunks: Buffer[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | 'too large' | 'late'>();
  let size = 0;
  let timer: NodeJS.Timeout | undefined;
  let leftMs = reading?.timeoutMs ?? 0;
  let readingSince = 0;
  const startTimer = () => {
    if (!reading) return;
    readingSince = performance.now();
    timer = setTimeout(() => giveBack('late'), Math.max(leftMs, 0));
  };
  const stopTimer = () => {
    clearTimeout(timer);
    leftMs -= performance.now() - readingSince;
  };
  const fail = (error: unknown) => {
    clearTimeout(timer);
    request.off('data', onData).off('end', onEnd);
    reject(error);
  };
  const onEnd = () => {
    clearTimeout(timer);
    resolve(joined(chunks));
  };
  const giveBack = (why: 'too large' | 'late') => {
    clearTimeout(timer);
    request.off('data', onData).off('end', onEnd).pause();
    for (const read of chunks.splice(0).reverse()) request.unshift(read);
    if (reading) holdUntilRead(request, size, reading);
    resolve(why);
  };
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size > limitBytes) {
      giveBack('too large');
      return;
    }
    const room = reading && growAsItArrives(reading.memory.part('request'), size, reading.arriving);
    if (!room) return;
    stopTimer();
    request.pause();
    room.then(() => {
      if (request.destroyed) return; // then `close` reports it, and the reservation may already be released
      startTimer();
      request.resume();
    }, fail);
  };
  request.on('data', onData);
  request.on('end', onEnd);
  request.on('error', fail);
  request.on('close', () => {
    // After the end the promise is settled, so no error is created, which would be slow
    if (!request.readableEnded) fail(endedEarly());
  });
  startTimer();
  return promise;
}

const longestStart = 8;

/**
 * Reads the first characters that are not white space, as Latin-1, while `isUndecided`, and puts them back. The body
 * must have `mostBytes` at least.
 */
export function peekAtBody(
  request: IncomingMessage,
  mostBytes: number,
  isUndecided: (start: string) => boolean,
): Promise<string> {
  if (request.destroyed) throw endedEarly();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  let size = 0;
  let start = '';
  const onClose = () => reject(endedEarly());
  const onData = (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    start += chunk
      .toString('latin1')
      .replace(/[ \t\n\r]+/g, '')
      .slice(0, longestStart);
    if (size < mostBytes && isUndecided(start)) return;
    request.off('data', onData).off('error', reject).off('close', onClose).pause();
    for (const read of chunks.reverse()) request.unshift(read);
    resolve(start);
  };
  request.on('data', onData).on('error', reject).on('close', onClose).resume(); // it is paused if it was late
  return promise;
}

/** The request is paused, so this listener does not make it flow. */
function holdUntilRead(request: IncomingMessage, bytes: number, reading: Reading): void {
  keepUnread(reading, bytes);
  let left = bytes;
  const onData = (chunk: Buffer) => {
    const read = Math.min(chunk.length, left);
    left -= read;
    noteRead(reading, read);
    if (left === 0) request.off('data', onData);
  };
  request.on('data', onData);
}

/** For a streamed body, of which `bytes` are in memory until they are read. Releases the rest. */
function keepUnread(reading: Reading | undefined, bytes: number): void {
  reading?.memory.part('request').shrinkTo(bytes);
}

function noteRead(reading: Reading | undefined, bytes: number): void {
  const part = reading?.memory.part('request');
  part?.shrinkTo(part.bytes - bytes);
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return first && chunks.length === 1 ? first : Buffer.concat(chunks);
}
