import { Transform, type TransformCallback } from 'node:stream';
import type { Reservation } from '@sluice/body-bytes';
import type { Pieces } from '@sluice/service-runtime';
import { type FilterBudget, type Json, newFilterBudget } from '@sluice/vault';
import { copies } from '../../budgets/held-body.ts';
import type { ContentKind } from '../../http/content-type.ts';
import { askedIn, fillPlaces, filterInPieces, mostTextIn } from '../detokenize.ts';
import { mayHoldExpression } from '../find-expressions.ts';
import type { Asked } from '../opened-body.ts';
import type { Place } from '../place.ts';
import { readerFor, type StreamedKind, startsLikeJson, type WindowReader } from './reader-for.ts';

export interface RevealStreamOptions {
  kind: Exclude<ContentKind, 'opaque'>;
  boundary?: string | undefined;
  /** Checks the caller's rights, throws the fault if there is one, and records the disclosure before it returns. */
  fetchValues(asked: Asked): Promise<ReadonlyMap<string, Json>>;
  /** Does the main thread's work for the Tenant, see {@link WorkPieces}. */
  run<T>(work: Pieces<T>): T | Promise<T>;
  /** For the memory that it takes beyond two windows. */
  reserve(): Reservation;
  limitBytes: number;
  windowBytes?: number;
  longestPieceBytes?: number;
}

/** Small enough that no window has more expressions than a body in memory may have. */
const defaultWindowBytes = 64 * 1024;
/** Longest JSON string, pair of a form or part of a multipart body that may hold an expression. */
const defaultLongestPieceBytes = 1024 * 1024;
/** What filters may process grows with the body, because a body without end could have them work without end. */
const filteredCharactersPerByte = 16;

/**
 * Holds two windows, one unfinished piece, and the values. More is reserved first, and given back once it has been read.
 * A window that cannot be filled destroys it.
 */
export class RevealStream extends Transform {
  readonly #options: RevealStreamOptions;
  readonly #windowBytes: number;
  readonly #values = new Map<string, Json>();
  readonly #budget = newFilterBudget();
  #kind: StreamedKind | 'none' | 'opaque';
  #reader: WindowReader | undefined;
  #window: Buffer;
  #size = 0;
  #hasOpening = false;
  #room: Reservation | undefined;
  #onTaken: (() => void) | undefined;

  constructor(options: RevealStreamOptions) {
    const { kind, windowBytes = defaultWindowBytes } = options;
    super({ readableHighWaterMark: windowBytes, writableHighWaterMark: windowBytes });
    this.#options = options;
    this.#kind = kind;
    this.#windowBytes = windowBytes;
    this.#window = Buffer.allocUnsafe(windowBytes);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#read(chunk).then(() => done(), done);
  }

  override _flush(done: TransformCallback): void {
    this.#advance(true).then(() => done(), done);
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
    for (let from = 0; from < chunk.length && !this.destroyed; ) {
      const copied = chunk.copy(this.#window, this.#size, from);
      from += copied;
      this.#size += copied;
      if (this.#size === this.#window.length) await this.#advance(false);
    }
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
    if (passes > 0) await this.#pass(window.subarray(0, passes));
    if (end > passes) await this.#pass(await this.#fill(window.subarray(passes, end)));
    this.#giveBack(0);
  }

  /** Resolves when the reader has room again, so that no more than one window waits for it. */
  async #taken(): Promise<void> {
    await Promise.resolve(); // `_read` is called before the bytes that are read leave the buffer
    if (this.readableLength < this.readableHighWaterMark || this.destroyed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onTaken = resolve;
    await promise;
  }

  #hold(bytes: number): Promise<void> | undefined {
    if (this.destroyed || bytes <= 2 * this.#windowBytes) return undefined;
    this.#room ??= this.#options.reserve();
    return this.#room.growTo(bytes);
  }

  /** Keeps what the window that is read next takes, and `bytes`. */
  #giveBack(bytes: number): void {
    if (this.destroyed) return;
    const kept = this.#window.length + bytes;
    if (kept > 2 * this.#windowBytes) {
      this.#room?.shrinkTo(kept);
      return;
    }
    this.#room?.release();
    this.#room = undefined; // the next one may wait as long again
  }

  /** The parts of a large window are copied, because a part that waits to be sent would keep all of it in memory. */
  async #pass(bytes: Buffer): Promise<void> {
    if (bytes.length <= 2 * this.#windowBytes) {
      if (!this.destroyed) this.push(bytes);
      return;
    }
    for (let at = 0; at < bytes.length; at += this.#windowBytes) {
      await this.#taken();
      if (this.destroyed) return;
      this.push(Buffer.from(bytes.subarray(at, at + this.#windowBytes)));
    }
  }

  #cutAt(window: Buffer, isLast: boolean) {
    const text = window.toString('latin1');
    if (this.#kind === 'none') this.#kind = startsLikeJson(text) ? 'json' : 'opaque';
    if (this.#kind === 'opaque') return { passes: window.length, end: window.length };
    const { boundary, longestPieceBytes = defaultLongestPieceBytes } = this.#options;
    this.#reader ??= readerFor(this.#kind, { boundary, longestPieceBytes });
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
    const asked = askedIn(places, this.#values);
    if (asked.tokenIds.length > 0 || asked.fault) {
      for (const [id, value] of await this.#options.fetchValues(asked)) this.#values.set(id, value);
    }
    if (this.destroyed) return bytes;
    const grown = Math.min(bytes.length + mostTextIn(places, this.#values), this.#options.limitBytes);
    if (grown > 2 * this.#windowBytes) await this.#hold(this.#window.length + grown * copies);
    const filled = await this.#options.run(this.#fillInPieces(bytes, places));
    this.#giveBack(filled.length);
    return filled;
  }

  /** Without an opening a window is read as fast as it is cut, so it needs no turn. */
  #find(bytes: Buffer, mayHold: boolean): Place[] | Promise<Place[]> {
    const reader = this.#reader;
    if (!reader) return [];
    return mayHold ? this.#options.run(inTurn(reader.findInPieces(bytes))) : reader.find(bytes);
  }

  *#fillInPieces(bytes: Buffer, places: readonly Place[]): Pieces<Buffer> {
    yield; // the values of many bodies may have come together
    const filling = { values: this.#values, limitBytes: this.#options.limitBytes, budget: this.#budget };
    const filtered = yield* filterInPieces(places, filling);
    return fillPlaces(bytes, places, { ...filling, filtered });
  }
}

/** The first piece would run at once, although many bodies may have come together. */
function* inTurn<T>(work: Pieces<T>): Pieces<T> {
  yield;
  return yield* work;
}

function grow(budget: FilterBudget, characters: number): void {
  const most = newFilterBudget().remaining;
  budget.remaining = Math.min(Math.max(budget.remaining, 0) + characters, most);
}
