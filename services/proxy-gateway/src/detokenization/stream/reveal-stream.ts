import { Transform, type TransformCallback } from 'node:stream';
import type { MemoryPart } from '@sluice/body-bytes';
import { type Charset, charsetNamed } from '@sluice/sandbox';
import type { Pieces } from '@sluice/service-runtime';
import { type FilterBudget, filterBudget, type Json } from '@sluice/vault';
import type { RequestGuard } from '../../guard/request-guard.ts';
import type { ContentKind } from '../../http/content-type.ts';
import { copies } from '../../limits/body-memory.ts';
import type { Asked } from '../asked.ts';
import { withCharsetFault } from '../body-charset.ts';
import { askedIn, fillPlaces, filterInPieces, guardUnfiltered, mostTextIn } from '../detokenize.ts';
import { mayHoldExpression } from '../find-expressions.ts';
import type { Place } from '../place.ts';
import { readerFor, type StreamedKind, startsLikeJson, type WindowReader } from './reader-for.ts';
import { StreamCharset } from './stream-charset.ts';

export interface RevealStreamOptions {
  kind: Exclude<ContentKind, 'opaque'>;
  boundary?: string | undefined;
  /** By the start of the body; UTF-8 if absent. Undefined if it is unknown. */
  charsetOf?(start: Buffer): Charset | undefined;
  /** Values that are disclosed already, by id. */
  known?: ReadonlyMap<string, Json>;
  /** Tokens that the request names elsewhere, whose values are not known here. */
  otherTokens?: ReadonlySet<string>;
  /** Checks the caller's rights, throws the fault if there is one, and records the disclosure before it returns. */
  fetchValues(asked: Asked): Promise<ReadonlyMap<string, Json>>;
  /** The answer may begin before the body ends. */
  guard?: Pick<RequestGuard, 'values' | 'extend'> | undefined;
  /** Called before each push of bytes with values. @throws if they must not leave any more. */
  look(): Promise<void> | undefined;
  /** Runs the work of the main thread for the Tenant, see {@link WorkPieces}. */
  run<T>(work: Pieces<T>): T | Promise<T>;
  /** For memory beyond two windows. */
  reserve(): MemoryPart;
  limitBytes: number;
  windowBytes?: number;
  longestPieceBytes?: number;
}

/** Small enough that no window has more expressions than a body in memory may have. */
const defaultWindowBytes = 64 * 1024;
/** Two windows. Reserve this before the stream is read. */
export const heldWhileStreaming = 2 * defaultWindowBytes;
/** Longest JSON string, pair of a form or part of a multipart body that may hold an expression. */
const defaultLongestPieceBytes = 1024 * 1024;
/** The limit for filters grows with the body, because otherwise an endless body could keep them busy for ever. */
const filteredCharactersPerByte = 16;

/**
 * Needs two windows, one unfinished piece, and the values. More memory is reserved first, and released once the bytes
 * have been read. A window that cannot be filled destroys the stream.
 */
export class RevealStream extends Transform {
  readonly #options: RevealStreamOptions;
  readonly #windowBytes: number;
  readonly #values: Map<string, Json>;
  readonly #budget = filterBudget();
  readonly #charset: StreamCharset;
  #kind: StreamedKind | 'none' | 'opaque';
  #reader: WindowReader | undefined;
  #window: Buffer;
  #size = 0;
  #hasOpening = false;
  #hasAsked = false;
  #room: MemoryPart | undefined;
  #onTaken: (() => void) | undefined;

  constructor(options: RevealStreamOptions) {
    const { kind, windowBytes = defaultWindowBytes, charsetOf = () => charsetNamed('utf-8') } = options;
    super({ readableHighWaterMark: windowBytes, writableHighWaterMark: windowBytes });
    this.#options = options;
    this.#values = new Map(options.known);
    this.#charset = new StreamCharset(charsetOf);
    this.#kind = kind;
    this.#windowBytes = windowBytes;
    this.#window = Buffer.allocUnsafe(windowBytes);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#read(chunk).then(() => done(), done);
  }

  override _flush(done: TransformCallback): void {
    this.#end().then(() => done(), done);
  }

  override _read(size: number): void {
    const onTaken = this.#onTaken;
    if (!onTaken) super._read(size);
    this.#onTaken = undefined;
    onTaken?.();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#onTaken?.();
    this.#room?.release();
    super._destroy(error, done);
  }

  async #read(chunk: Buffer): Promise<void> {
    await this.#readOn(this.#charset.read(chunk));
  }

  async #readOn(bytes: Buffer): Promise<void> {
    for (let from = 0; from < bytes.length && !this.destroyed; ) {
      const copied = bytes.copy(this.#window, this.#size, from);
      from += copied;
      this.#size += copied;
      if (this.#size === this.#window.length) await this.#advance(false);
    }
  }

  async #end(): Promise<void> {
    await this.#readOn(this.#charset.end());
    await this.#advance(true);
  }

  async #advance(isLast: boolean): Promise<void> {
    await this.#taken();
    if (this.destroyed) return;
    const window = this.#window.subarray(0, this.#size);
    const { passes, end } = this.#cutAt(window, isLast);
    const kept = window.subarray(end);
    await this.#hold(kept.length + this.#windowBytes);
    this.#window = Buffer.allocUnsafe(kept.length + this.#windowBytes);
    this.#size = kept.copy(this.#window);
    if (passes > 0) await this.#pass(window.subarray(0, passes), { hasValues: false });
    if (end > passes) await this.#passFilled(window.subarray(passes, end));
    this.#giveBack(0);
  }

  /** Resolves when the reader accepts more, so that at most one window waits for it. */
  async #taken(): Promise<void> {
    await Promise.resolve(); // `_read` is called before the bytes that are read leave the buffer
    if (this.readableLength < this.readableHighWaterMark || this.destroyed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onTaken = resolve;
    await promise;
  }

  #hold(bytes: number): Promise<void> | undefined {
    const more = bytes - 2 * this.#windowBytes;
    if (this.destroyed || more <= 0) return undefined;
    this.#room ??= this.#options.reserve();
    return this.#room.growTo(more);
  }

  /** Releases all but the memory of the window that is read next, and `bytes`. */
  #giveBack(bytes: number): void {
    if (this.destroyed) return;
    const kept = this.#window.length + bytes - 2 * this.#windowBytes;
    if (kept > 0) {
      this.#room?.shrinkTo(kept);
      return;
    }
    this.#room?.release();
    this.#room = undefined; // so that the next has the full wait time
  }

  /** Copies the parts of a large window, because a part that waits to be sent would keep the whole window in memory. */
  async #pass(bytes: Buffer, { hasValues }: { hasValues: boolean }): Promise<void> {
    const isLarge = bytes.length > 2 * this.#windowBytes;
    const step = isLarge ? this.#windowBytes : bytes.length;
    for (let at = 0; at < bytes.length; at += step) {
      if (isLarge) await this.#taken();
      if (hasValues) await this.#options.look();
      this.#send(isLarge ? Buffer.from(bytes.subarray(at, at + step)) : bytes);
    }
  }

  async #passFilled(bytes: Buffer): Promise<void> {
    const filled = await this.#fill(bytes);
    await this.#pass(filled, { hasValues: filled !== bytes });
  }

  #send(bytes: Buffer): void {
    if (!this.destroyed) this.push(this.#charset.write(bytes));
  }

  #cutAt(window: Buffer, isLast: boolean) {
    const text = window.toString('latin1');
    if (this.#kind === 'none') this.#kind = startsLikeJson(text) ? 'json' : 'opaque';
    if (this.#kind === 'opaque') return { passes: window.length, end: window.length };
    const { boundary, longestPieceBytes = defaultLongestPieceBytes } = this.#options;
    const { charset } = this.#charset;
    this.#reader ??= readerFor(this.#kind, { boundary, charset, longestPieceBytes });
    return this.#reader.cut(text, isLast);
  }

  async #fill(bytes: Buffer): Promise<Buffer> {
    grow(this.#budget, bytes.length * filteredCharactersPerByte);
    // After the first opening the whole body must be what its type says
    const mayHold = mayHoldExpression(bytes);
    this.#hasOpening ||= mayHold;
    if (!this.#hasOpening) return bytes;
    const places = await this.#find(bytes, mayHold);
    if (places.length === 0 || this.destroyed) return bytes;
    const asked = withCharsetFault(
      askedIn(places, this.#values, this.#options.otherTokens),
      this.#options.kind,
      this.#charset.charset,
    );
    // A body with nothing but quoted texts also needs a caller with rights
    if (asked.tokenIds.length > 0 || asked.fault || !this.#hasAsked) {
      this.#hasAsked = true;
      for (const [id, value] of await this.#options.fetchValues(asked)) this.#values.set(id, value);
    }
    if (this.destroyed) return bytes;
    const grown = Math.min(bytes.length + mostTextIn(places, this.#values), this.#options.limitBytes);
    if (grown > 2 * this.#windowBytes) await this.#hold(this.#window.length + grown * copies);
    const { guard } = this.#options;
    guardUnfiltered(places, this.#values, guard);
    const filled = await this.#options.run(this.#fillInPieces(bytes, places));
    await guard?.extend();
    this.#giveBack(filled.length);
    return filled;
  }

  /** A window without an opening is read as fast as it is cut, so it is not queued. */
  #find(bytes: Buffer, mayHold: boolean): Place[] | Promise<Place[]> {
    const reader = this.#reader;
    if (!reader) return [];
    return mayHold ? this.#options.run(inTurn(reader.findInPieces(bytes))) : reader.find(bytes);
  }

  *#fillInPieces(bytes: Buffer, places: readonly Place[]): Pieces<Buffer> {
    yield; // values of many bodies may have arrived at once
    const filling = {
      values: this.#values,
      limitBytes: this.#options.limitBytes,
      budget: this.#budget,
      putIn: this.#options.guard?.values,
    };
    const filtered = yield* filterInPieces(places, filling);
    return fillPlaces(bytes, places, { ...filling, filtered });
  }
}

/** Without this the first piece would run at once, although many bodies may have arrived together. */
function* inTurn<T>(work: Pieces<T>): Pieces<T> {
  yield;
  return yield* work;
}

function grow(budget: FilterBudget, characters: number): void {
  const most = filterBudget().remaining;
  budget.remaining = Math.min(Math.max(budget.remaining, 0) + characters, most);
}
