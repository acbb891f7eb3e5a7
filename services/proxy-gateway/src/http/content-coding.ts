import { IncomingMessage } from 'node:http';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliDecompress,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzip,
  type InflateRaw,
  inflate,
  inflateRaw,
  zstdDecompress,
} from 'node:zlib';
import { endedEarly, ServiceError } from '@sluice/problems';
import { inPairs } from './header-list.ts';
import type { HeaderList } from './message.ts';

interface Decoder {
  /** Most memory of its window and its state while it streams. */
  streamBytes: number;
  whole(body: Buffer, options: { maxOutputLength: number; chunkSize: number }): Promise<Buffer>;
  stream(): Transform;
}

/** RFC 9659 allows a window of 8 MiB. Without this limit a body could make zstd allocate up to 128 MiB. */
const zstdWindow = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

const unzstd = promisify(zstdDecompress);

const mebibyte = 2 ** 20;
const deflateBytes = mebibyte / 16;

/** Some senders call bare RFC 1951 `deflate`, without the header of RFC 1950, which begins with the method 8. */
function isBareDeflate(body: Buffer): boolean {
  return ((body[0] ?? 0) & 0x0f) !== 8;
}

const [inflateBody, inflateBare] = [promisify(inflate), promisify(inflateRaw)];

/** The first byte decides how it decodes. */
class InflateEither extends Transform {
  #inflate: InflateRaw | undefined;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#inflate ??= this.#open(isBareDeflate(chunk) ? createInflateRaw() : createInflate());
    this.#inflate.write(chunk, done);
  }

  override _flush(done: TransformCallback): void {
    // Bytes after its end are ignored, as zlib's own streams do
    if (!this.#inflate || this.#inflate.readableEnded) done();
    else this.#inflate.once('end', () => done()).end();
  }

  override _read(size: number): void {
    this.#inflate?.resume();
    super._read(size);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#inflate?.destroy();
    super._destroy(error, done);
  }

  #open(stream: InflateRaw): InflateRaw {
    stream.on('error', (error) => this.destroy(error));
    return stream.on('data', (decoded: Buffer) => {
      if (!this.push(decoded)) stream.pause();
    });
  }
}

const gzip: Decoder = { streamBytes: deflateBytes, whole: promisify(gunzip), stream: createGunzip };

const decoders = {
  gzip,
  'x-gzip': gzip,
  deflate: {
    streamBytes: deflateBytes,
    whole: (body, options) => (isBareDeflate(body) ? inflateBare : inflateBody)(body, options),
    stream: () => new InflateEither(),
  },
  br: { streamBytes: 17 * mebibyte, whole: promisify(brotliDecompress), stream: createBrotliDecompress },
  zstd: {
    streamBytes: 10 * mebibyte,
    whole: (body, options) => unzstd(body, { ...options, ...zstdWindow }),
    stream: () => createZstdDecompress(zstdWindow),
  },
} satisfies Record<string, Decoder>;

/** Each decoded piece wakes the main thread: 5 MB take 8 ms of it in Node's pieces of 16 KiB, and 3 ms in these. */
const chunkSize = 64 * 1024;

type Coding = keyof typeof decoders;

function isCoding(name: string): name is Coding {
  return Object.hasOwn(decoders, name);
}

const noCodings: string[] = [];

/** Lists them in the order in which they were applied (RFC 9110 section 8.4). */
export function contentCodings(contentEncoding: string | undefined): string[] {
  if (contentEncoding === undefined) return noCodings;
  return contentEncoding
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
}

/** Of all lines together. */
export function codingsOf(headers: HeaderList): string[] {
  const lines = inPairs(headers).filter(([name]) => name.toLowerCase() === 'content-encoding');
  return lines.length === 0 ? noCodings : contentCodings(lines.map(([, value]) => value).join(','));
}

/** @throws {ServiceError} 415 for several codings or an unknown one, 413 if too large, 400 if it does not decode. */
export async function decodeBody(body: Buffer, codings: readonly string[], limitBytes: number): Promise<Buffer> {
  const coding = checkCoding(codings);
  return coding === undefined ? body : decodeOne(body, coding, limitBytes);
}

/** Several are refused, because each can multiply a few bytes by a thousand. */
function checkCoding(codings: readonly string[]): Coding | undefined {
  const [coding, ...others] = codings;
  if (others.length > 0) {
    throw new ServiceError(
      'unsupported_media_type',
      'The service must read this body, so the body may have only one content coding',
      {
        limit: 'content_codings',
      },
    );
  }
  if (coding === undefined || isCoding(coding)) return coding;
  throw new ServiceError('unsupported_media_type', `The content coding ${coding.slice(0, 40)} is not supported`);
}

async function decodeOne(body: Buffer, coding: Coding, maxOutputLength: number): Promise<Buffer> {
  try {
    return await decoders[coding].whole(body, { maxOutputLength, chunkSize });
  } catch (error) {
    const hasCode = typeof error === 'object' && error !== null && 'code' in error;
    if (hasCode && error.code === 'ERR_BUFFER_TOO_LARGE')
      throw new ServiceError('payload_too_large', `The decompressed body may have at most ${maxOutputLength} bytes`, {
        limit: 'body_size',
      });
    throw new ServiceError('bad_request', `The body is not valid ${coding}`, { cause: error });
  }
}

/** The memory to reserve before a body is decoded while it streams. @throws {ServiceError} 415 as below. */
export function streamedDecoderBytes(codings: readonly string[]): number {
  const coding = checkCoding(codings);
  return coding === undefined ? 0 : decoders[coding].streamBytes;
}

/** A body that does not decode destroys the stream. @throws {ServiceError} 415 for several or an unknown coding. */
export function decodeWhileStreaming(body: Readable, codings: readonly string[]): Readable {
  const coding = checkCoding(codings);
  return coding === undefined ? body : feed(body, decoders[coding].stream());
}

/** Unlike `pipe`, it passes on failures of the source, and drains a request so that its connection stays usable. */
export function feed<T extends Transform>(source: Readable, target: T): T {
  target.once('resume', () => {
    if (target.destroyed) return;
    source.once('error', (error) => target.destroy(bodyError(error)));
    source.once('close', () => {
      if (!source.readableEnded) target.destroy(endedEarly());
    });
    if (source.destroyed) target.destroy(endedEarly());
    else source.pipe(target);
  });
  target.once('close', () => {
    source.unpipe(target);
    if (source instanceof IncomingMessage) source.resume();
    else source.destroy();
  });
  return target;
}

function bodyError(error: Error): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError('bad_request', 'The body does not match its Content-Encoding', { cause: error });
}
