import { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { ServiceError } from '@sluice/problems';
import { type Coding, checkCoding, zstdWindow } from './content-coding.ts';

const decoders: Record<Coding, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => createZstdDecompress(zstdWindow),
};

/**
 * Undoes a coding while the body flows. However much a body grows by it, no more than a window of it is ever held.
 * @throws {ServiceError} `unsupported_media_type` for a coding that we do not know. A body that does not decode
 * destroys the stream.
 */
export function decodeWhileStreaming(body: Readable, codings: readonly string[]): Readable {
  const coding = checkCoding(codings);
  return coding === undefined ? body : feed(body, decoders[coding]());
}

/**
 * Pipes from when somebody reads the target. Other than with `pipe` alone, a source that fails or ends early destroys
 * the target with an error for the caller. When the target is over, its source is let go: a request runs dry, so that
 * its connection can bring the answer and the next one.
 * @returns the target.
 */
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

/** The error for a body of which only a part came. */
export function endedEarly(): ServiceError {
  return new ServiceError('bad_request', 'The request ended before its body was whole');
}

function bodyError(error: Error): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError('bad_request', 'The body cannot be decoded as its codings say', { cause: error });
}
