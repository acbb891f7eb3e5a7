/**
 * The globals and modules that transforms find, for editors that do not know Node.js. With `@types/node` leave this file
 * out; it then declares more than there is.
 */

declare const global: typeof globalThis;
declare const process: {
  /** Empty; what is set stays within the transform. */
  readonly env: Record<string, string | undefined>;
  readonly platform: string;
  /** `v16.…`, whatever runs the transform. */
  readonly version: string;
  readonly versions: { readonly node: string };
  nextTick(run: Callback, ...values: unknown[]): void;
  uptime(): number;
  hrtime: ((before?: [number, number]) => [number, number]) & { bigint(): bigint };
  emitWarning(warning: string | Error): void;
};
interface ErrorConstructor {
  captureStackTrace(target: object, maker?: Callback): void;
}
declare const console: Record<
  'log' | 'info' | 'debug' | 'warn' | 'error' | 'trace' | 'dir' | 'table' | 'group' | 'count',
  (...values: unknown[]) => void
> & { assert(condition: unknown, ...values: unknown[]): void };

type Callback = (...values: never[]) => unknown;
interface Timer {
  ref(): this;
  unref(): this;
  refresh(): this;
}
declare function setTimeout(run: Callback, ms?: number, ...values: unknown[]): Timer;
declare function setInterval(run: Callback, ms?: number, ...values: unknown[]): Timer;
declare function setImmediate(run: Callback, ...values: unknown[]): Timer;
declare function clearTimeout(timer: Timer | undefined): void;
declare function clearInterval(timer: Timer | undefined): void;
declare function clearImmediate(timer: Timer | undefined): void;
declare function queueMicrotask(run: () => void): void;
declare function structuredClone<T>(value: T): T;
declare function atob(text: string): string;
declare function btoa(text: string): string;

declare const performance: { now(): number; readonly timeOrigin: number };

declare class DOMException extends Error {
  constructor(message?: string, name?: string);
  readonly code: number;
}
declare class Event {
  constructor(type: string, options?: { cancelable?: boolean });
  readonly type: string;
  readonly target: EventTarget | null;
  readonly cancelable: boolean;
  readonly defaultPrevented: boolean;
  preventDefault(): void;
  stopImmediatePropagation(): void;
}
type Listener = ((event: Event) => void) | { handleEvent(event: Event): void };
declare class EventTarget {
  addEventListener(type: string, listener: Listener, options?: { once?: boolean; signal?: AbortSignal }): void;
  removeEventListener(type: string, listener: Listener): void;
  dispatchEvent(event: Event): boolean;
}
declare class AbortSignal extends EventTarget {
  private constructor();
  static abort(reason?: unknown): AbortSignal;
  static any(signals: Iterable<AbortSignal>): AbortSignal;
  static timeout(ms: number): AbortSignal;
  readonly aborted: boolean;
  readonly reason: unknown;
  onabort: ((event: Event) => void) | null;
  throwIfAborted(): void;
}
declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

declare class URLSearchParams {
  constructor(init?: string | Record<string, string> | Iterable<[string, string]>);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(run: (value: string, name: string, all: URLSearchParams) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  toString(): string;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  readonly origin: string;
  readonly searchParams: URLSearchParams;
  href: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  hash: string;
  toString(): string;
  toJSON(): string;
}
declare class TextEncoder {
  readonly encoding: 'utf-8';
  encode(text?: string): Uint8Array;
  encodeInto(text: string, into: Uint8Array): { read: number; written: number };
}
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  decode(bytes?: ArrayBufferView | ArrayBuffer, options?: { stream?: boolean }): string;
}
declare const crypto: {
  randomUUID(): string;
  getRandomValues<T extends ArrayBufferView>(into: T): T;
  readonly subtle: {
    digest(algorithm: string | { name: string }, data: ArrayBufferView | ArrayBuffer): Promise<ArrayBuffer>;
  };
};

type BufferEncoding =
  | 'utf8'
  | 'utf-8'
  | 'utf16le'
  | 'ucs2'
  | 'latin1'
  | 'binary'
  | 'ascii'
  | 'base64'
  | 'base64url'
  | 'hex';
type BytesLike = string | ArrayBufferView | ArrayBuffer;
interface Buffer extends Uint8Array<ArrayBuffer> {
  toString(encoding?: BufferEncoding, start?: number, end?: number): string;
  equals(other: Uint8Array): boolean;
  compare(other: Uint8Array): -1 | 0 | 1;
  write(text: string, offset?: number, length?: number, encoding?: BufferEncoding): number;
  copy(target: Uint8Array, targetStart?: number, start?: number, end?: number): number;
  slice(start?: number, end?: number): Buffer;
  subarray(start?: number, end?: number): Buffer;
}
declare const Buffer: {
  from(value: string, encoding?: BufferEncoding): Buffer;
  from(value: ArrayBuffer, offset?: number, length?: number): Buffer;
  from(value: ArrayLike<number> | Iterable<number>): Buffer;
  alloc(size: number, fill?: string | number | Uint8Array, encoding?: BufferEncoding): Buffer;
  concat(parts: readonly Uint8Array[], length?: number): Buffer;
  byteLength(text: BytesLike, encoding?: BufferEncoding): number;
  compare(left: Uint8Array, right: Uint8Array): -1 | 0 | 1;
  isBuffer(value: unknown): value is Buffer;
  isEncoding(name: string): name is BufferEncoding;
};

declare module 'node:crypto' {
  interface Hash {
    update(data: BytesLike, encoding?: BufferEncoding): this;
    digest(): Buffer;
    digest(encoding: BufferEncoding): string;
    copy(): Hash;
  }
  interface Cipher {
    update(data: BytesLike, inputEncoding?: BufferEncoding): Buffer;
    update(data: BytesLike, inputEncoding: BufferEncoding | undefined, outputEncoding: BufferEncoding): string;
    final(): Buffer;
    final(encoding: BufferEncoding): string;
    setAAD(data: ArrayBufferView): this;
    setAutoPadding(on?: boolean): this;
    getAuthTag(): Buffer;
    setAuthTag(tag: ArrayBufferView): this;
  }
  export function createHash(algorithm: string, options?: { outputLength?: number }): Hash;
  export function createHmac(algorithm: string, key: BytesLike | KeyObject): Hash;
  export function createCipheriv(algorithm: string, key: BytesLike, iv: BytesLike, options?: object): Cipher;
  export function createDecipheriv(algorithm: string, key: BytesLike, iv: BytesLike, options?: object): Cipher;
  export class KeyObject {
    private constructor();
    readonly type: 'secret' | 'public' | 'private';
    readonly asymmetricKeyType?: string;
    export(options?: { format?: 'pem' | 'der' | 'jwk'; type?: 'pkcs1' | 'pkcs8' | 'sec1' | 'spki' }): unknown;
    equals(other: KeyObject): boolean;
  }
  /** A PEM, a key object, or an object with one of them, or with DER or JWK and their `format`. */
  type Key =
    | string
    | Buffer
    | KeyObject
    | {
        key: string | Buffer | KeyObject | object;
        format?: 'pem' | 'der' | 'jwk';
        type?: string;
        padding?: number;
        saltLength?: number;
        dsaEncoding?: 'der' | 'ieee-p1363';
        oaepHash?: string;
        oaepLabel?: BytesLike;
      };
  type Done<T> = (error: Error | null, value: T) => void;
  export function createPrivateKey(key: Key): KeyObject;
  export function createPublicKey(key: Key): KeyObject;
  export function createSecretKey(key: BytesLike, encoding?: BufferEncoding): KeyObject;
  export function sign(algorithm: string | null | undefined, data: BytesLike, key: Key): Buffer;
  export function verify(
    algorithm: string | null | undefined,
    data: BytesLike,
    key: Key,
    signature: ArrayBufferView,
  ): boolean;
  /** OAEP with SHA-1 unless the key says another padding or `oaepHash`. */
  export function publicEncrypt(key: Key, data: BytesLike): Buffer;
  export function privateDecrypt(key: Key, data: BytesLike): Buffer;
  export function hkdfSync(
    digest: string,
    key: BytesLike | KeyObject,
    salt: BytesLike,
    info: BytesLike,
    size: number,
  ): ArrayBuffer;
  export function pbkdf2(
    password: BytesLike,
    salt: BytesLike,
    rounds: number,
    size: number,
    digest: string,
    done: Done<Buffer>,
  ): void;
  export function scrypt(password: BytesLike, salt: BytesLike, size: number, done: Done<Buffer>): void;
  export function randomFillSync<T extends ArrayBufferView>(view: T, offset?: number, size?: number): T;
  export function getHashes(): string[];
  export function getCiphers(): string[];
  interface Sign {
    update(data: BytesLike, encoding?: BufferEncoding): this;
    sign(key: Key): Buffer;
    sign(key: Key, encoding: BufferEncoding): string;
  }
  interface Verify {
    update(data: BytesLike, encoding?: BufferEncoding): this;
    verify(key: Key, signature: BytesLike, encoding?: BufferEncoding): boolean;
  }
  interface ScryptOptions {
    N?: number;
    r?: number;
    p?: number;
    cost?: number;
    blockSize?: number;
    parallelization?: number;
    maxmem?: number;
  }
  export function createSign(algorithm: string): Sign;
  export function createVerify(algorithm: string): Verify;
  export function pbkdf2Sync(
    password: BytesLike,
    salt: BytesLike,
    rounds: number,
    size: number,
    digest: string,
  ): Buffer;
  export function scryptSync(password: BytesLike, salt: BytesLike, size: number, options?: ScryptOptions): Buffer;
  export const constants: Readonly<Record<string, number>>;
  export function randomBytes(size: number): Buffer;
  export function randomInt(maximum: number): number;
  export function randomInt(minimum: number, maximum: number): number;
  export function randomUUID(): string;
  export function timingSafeEqual(left: ArrayBufferView, right: ArrayBufferView): boolean;
}

declare module 'node:zlib' {
  interface Options {
    level?: number;
    windowBits?: number;
    memLevel?: number;
    strategy?: number;
    finishFlush?: number;
    chunkSize?: number;
    dictionary?: ArrayBufferView | ArrayBuffer;
    maxOutputLength?: number;
  }
  interface BrotliOptions {
    finishFlush?: number;
    params?: Record<number, number>;
    maxOutputLength?: number;
  }
  export function deflateSync(data: BytesLike, options?: Options): Buffer;
  export function inflateSync(data: BytesLike, options?: Options): Buffer;
  export function deflateRawSync(data: BytesLike, options?: Options): Buffer;
  export function inflateRawSync(data: BytesLike, options?: Options): Buffer;
  export function gzipSync(data: BytesLike, options?: Options): Buffer;
  export function gunzipSync(data: BytesLike, options?: Options): Buffer;
  export function unzipSync(data: BytesLike, options?: Options): Buffer;
  export function brotliCompressSync(data: BytesLike, options?: BrotliOptions): Buffer;
  export function brotliDecompressSync(data: BytesLike, options?: BrotliOptions): Buffer;
  export const constants: Readonly<Record<string, number>>;
  type Later<O> = {
    (data: BytesLike, done: (error: Error | null, bytes: Buffer) => void): void;
    (data: BytesLike, options: O, done: (error: Error | null, bytes: Buffer) => void): void;
  };
  export const deflate: Later<Options>;
  export const inflate: Later<Options>;
  export const deflateRaw: Later<Options>;
  export const inflateRaw: Later<Options>;
  export const gzip: Later<Options>;
  export const gunzip: Later<Options>;
  export const unzip: Later<Options>;
  export const brotliCompress: Later<BrotliOptions>;
  export const brotliDecompress: Later<BrotliOptions>;
}

declare module 'node:string_decoder' {
  export class StringDecoder {
    constructor(encoding?: BufferEncoding);
    readonly encoding: string;
    write(data: Uint8Array): string;
    end(data?: Uint8Array): string;
  }
}

declare module 'uuid' {
  export const NIL: string;
  export function v4(): string;
  export function v7(): string;
  export const v3: ((name: string, namespace: string) => string) & { readonly DNS: string; readonly URL: string };
  export const v5: ((name: string, namespace: string) => string) & { readonly DNS: string; readonly URL: string };
  export function validate(text: string): boolean;
  export function version(text: string): number;
  export function parse(text: string): Uint8Array;
  export function stringify(bytes: Uint8Array): string;
}

declare module 'node:querystring' {
  export function parse(
    text: string,
    separator?: string,
    equals?: string,
  ): Record<string, string | string[] | undefined>;
  export function stringify(value: object, separator?: string, equals?: string): string;
  function encodeText(text: string): string;
  function decodeText(text: string): string;

  export { decodeText as unescape, encodeText as escape };
}

declare module 'node:util' {
  export function format(...values: unknown[]): string;
  export function inspect(value: unknown, options?: { depth?: number | null }): string;
  export function isDeepStrictEqual(left: unknown, right: unknown): boolean;
  export function promisify(run: Callback): (...values: unknown[]) => Promise<unknown>;
}

declare module 'buffer' {
  const module: { Buffer: typeof Buffer };
  export = module;
}

declare module 'crypto' {
  export * from 'node:crypto';
}
declare module 'querystring' {
  export * from 'node:querystring';
}
declare module 'string_decoder' {
  export * from 'node:string_decoder';
}
declare module 'util' {
  export * from 'node:util';
}
declare module 'zlib' {
  export * from 'node:zlib';
}

// Known to be there; their members are those of Node.js.
declare module 'assert';
declare module 'events';
declare module 'path';
declare module 'stream';
declare module 'stream/promises';
declare module 'url';
declare module 'process';
declare module 'node:process';
declare module 'perf_hooks';
declare module 'node:perf_hooks';
declare module 'timers';
declare module 'node:timers';
declare module 'timers/promises';
declare module 'node:timers/promises';
declare module 'util/types';
declare module 'node:util/types';
declare module 'assert/strict';
declare module 'node:assert/strict';
declare module 'node:assert';
declare module 'node:buffer';
declare module 'node:events';
declare module 'node:path';
declare module 'node:stream';
declare module 'node:stream/promises';
declare module 'node:url';
