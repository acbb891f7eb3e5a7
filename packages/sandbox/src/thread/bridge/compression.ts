import zlib from 'node:zlib';
import type { Meter } from '../meter.ts';
import { bytes, integer, text } from './parameters.ts';

/** The budget is checked after this much input; the worst takes about 20 ms at the highest level. */
const sliceBytes = 16 * 2 ** 10;
/** Small, because Node.js reserves a whole piece of output for each stream. */
const largestPieceBytes = 64 * 2 ** 10;
/** A result exists as base64 on its way, as base64 in the guest, and as bytes there. */
const copies = 4 / 3 + 4 / 3 + 1;
/** Memory of Brotli's encoder apart from its tables, which grow with its window. */
const brotliBytes = 8 * 2 ** 20;
const brotliBytesPerWindowByte = 8;
const defaultWindowBits = 22;
const largestWindowBytes = 2 ** 24;
const largestWindowBits = 30;
/** Brotli processes a whole block between two checks of the budget. */
const largestBlockBits = 18;

const makers = {
  deflateSync: zlib.createDeflate,
  inflateSync: zlib.createInflate,
  deflateRawSync: zlib.createDeflateRaw,
  inflateRawSync: zlib.createInflateRaw,
  gzipSync: zlib.createGzip,
  gunzipSync: zlib.createGunzip,
  unzipSync: zlib.createUnzip,
  brotliCompressSync: zlib.createBrotliCompress,
  brotliDecompressSync: zlib.createBrotliDecompress,
} as const;

/** Private members of a stream of `node:zlib`, needed because its synchronous functions cannot be stopped. */
interface Steps {
  _handle: {
    writeSync(flush: number, input: Uint8Array, ...rest: [number, number, Uint8Array, number, number]): void;
    onerror: (message: string, errno: number, code: string) => void;
    close(): void;
  };
  /** After a step: the space left in the piece, and the input left. */
  _writeState: Uint32Array;
  _finishFlushFlag: number;
  _chunkSize: number;
}

export function compressionOperations(meter: Meter) {
  return {
    'zlib.constants': () => ({ ...zlib.constants }),
    zlib: (method: unknown, data: unknown, options: unknown) => {
      const name = text(method);
      if (!Object.hasOwn(makers, name)) throw new TypeError('Unknown method of zlib');
      const input = bytes(data);
      const given = optionsOf(options);
      if (name.startsWith('brotli'))
        holdForBrotli(meter, given, name === 'brotliCompressSync' ? input.length : undefined);
      const stream = makers[name as keyof typeof makers](given) as unknown as Steps;
      try {
        return runSteps(stream, input, {
          meter,
          maximum: given.maxOutputLength ?? Number.POSITIVE_INFINITY,
          isStored: given.level === 0 && !name.startsWith('brotli'),
        }).toString('base64');
      } finally {
        // `stream.close()` would keep the stream until the next tick, and thousands of them until the run ends.
        stream._handle.close();
      }
    },
  };
}

type Options = zlib.ZlibOptions & { params?: Record<number, number> };

function optionsOf(value: unknown): Options {
  const { dictionary, params, ...numbers } = Object(value);
  const given = Object.entries(numbers).filter(([, number]) => number !== null && number !== undefined);
  return {
    ...Object.fromEntries(given),
    ...(typeof numbers.chunkSize === 'number' && { chunkSize: Math.min(numbers.chunkSize, largestPieceBytes) }),
    ...(dictionary && { dictionary: bytes(dictionary) }),
    ...(params && { params: { ...params } }),
  };
}

/** `inputBytes` is undefined for decompression; the memory of a compression depends on it. */
function holdForBrotli(meter: Meter, options: Options, inputBytes: number | undefined): void {
  const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_LGBLOCK, BROTLI_PARAM_SIZE_HINT } = zlib.constants;
  const params = options.params ?? {};
  if (inputBytes === undefined) {
    if (params[zlib.constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]) {
      throw new RangeError('Windows of Brotli that are larger than 16 MiB are not supported');
    }
    meter.hold(largestWindowBytes);
    return;
  }
  integer(params[BROTLI_PARAM_LGBLOCK] ?? 0, largestBlockBits);
  const windowBits = integer(params[BROTLI_PARAM_LGWIN] ?? defaultWindowBits, largestWindowBits);
  meter.hold(brotliBytes + brotliBytesPerWindowByte * 2 ** windowBits);
  options.params = { [BROTLI_PARAM_SIZE_HINT]: inputBytes, ...params };
}

function runSteps(
  stream: Steps,
  input: Buffer,
  { meter, maximum, isStored }: { meter: Meter; maximum: number; isStored: boolean },
): Buffer {
  const pieces: Buffer[] = [];
  let held = 0;
  let failure: Error | undefined;
  stream._handle.onerror = (message, errno, code) => {
    failure = Object.assign(new Error(message), { errno, code });
  };
  const pieceBytes = stream._chunkSize;
  // Input that is only stored takes no time, and the length of its blocks depends on that of the input.
  const stepBytes = isStored ? input.length : sliceBytes;
  let at = 0;
  for (;;) {
    const end = Math.min(at + stepBytes, input.length);
    const isLast = end === input.length;
    const piece = Buffer.allocUnsafe(pieceBytes);
    meter.spend();
    stream._handle.writeSync(isLast ? stream._finishFlushFlag : 0, input, at, end - at, piece, 0, pieceBytes);
    if (failure) throw failure;
    const [roomLeft = 0, inputLeft = 0] = stream._writeState;
    const written = pieceBytes - roomLeft;
    held += written;
    if (held > maximum) throw tooLarge(maximum);
    meter.hold(held * copies);
    if (written > 0) pieces.push(piece.subarray(0, written));
    at = end - inputLeft;
    // Space is left if all input was taken, or if the rest follows the end of the compressed data.
    if (roomLeft > 0 && (isLast || inputLeft > 0)) return Buffer.concat(pieces);
  }
}

function tooLarge(maximum: number): Error {
  const error = new RangeError(`Cannot create a Buffer larger than ${maximum} bytes`);
  return Object.assign(error, { code: 'ERR_BUFFER_TOO_LARGE' });
}
