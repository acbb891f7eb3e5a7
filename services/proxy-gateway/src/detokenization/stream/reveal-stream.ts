import { Transform, type TransformCallback } from 'node:stream';
import type { Json } from '@sluice/vault';
import type { ContentKind } from '../../http/content-type.ts';
import { askedIn, fillPlaces } from '../detokenize.ts';
import { mayHoldExpression } from '../find-expressions.ts';
import type { Asked } from '../opened-body.ts';
import { readerFor, type StreamedKind, startsLikeJson, type WindowReader } from './reader-for.ts';

export interface RevealStreamOptions {
  kind: Exclude<ContentKind, 'opaque'>;
  boundary?: string | undefined;
  /** Checks the caller's rights, throws the fault if there is one, and records the disclosure before it returns. */
  fetchValues(asked: Asked): Promise<ReadonlyMap<string, Json>>;
  limitBytes: number;
  windowBytes?: number;
  longestPieceBytes?: number;
}

/** Small enough that no window has more expressions than a body in memory may have. */
const defaultWindowBytes = 64 * 1024;
/** Longest JSON string, pair of a form or part of a multipart body that may hold an expression. */
const defaultLongestPieceBytes = 1024 * 1024;

/** Holds two windows, one unfinished piece, and the values. A window that cannot be filled destroys it. */
export class RevealStream extends Transform {
  readonly #options: RevealStreamOptions;
  readonly #windowBytes: number;
  readonly #values = new Map<string, Json>();
  #kind: StreamedKind | 'none' | 'opaque';
  #reader: WindowReader | undefined;
  #window: Buffer;
  #size = 0;
  #hasOpening = false;

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

  async #read(chunk: Buffer): Promise<void> {
    for (let from = 0; from < chunk.length && !this.destroyed; ) {
      const copied = chunk.copy(this.#window, this.#size, from);
      from += copied;
      this.#size += copied;
      if (this.#size === this.#window.length) await this.#advance(false);
    }
  }

  async #advance(isLast: boolean): Promise<void> {
    const window = this.#window.subarray(0, this.#size);
    const { passes, end } = this.#cutAt(window, isLast);
    const kept = window.subarray(end);
    this.#window = Buffer.allocUnsafe(kept.length + this.#windowBytes);
    this.#size = kept.copy(this.#window);
    if (passes > 0) this.push(window.subarray(0, passes));
    if (end === passes) return;
    const filled = await this.#fill(window.subarray(passes, end));
    if (!this.destroyed) this.push(filled);
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
    // After the first opening the whole body must be what its type says
    this.#hasOpening ||= mayHoldExpression(bytes);
    if (!this.#hasOpening) return bytes;
    const places = this.#reader?.find(bytes) ?? [];
    if (places.length === 0) return bytes;
    const asked = askedIn(places, this.#values);
    if (asked.tokenIds.length > 0 || asked.fault) {
      for (const [id, value] of await this.#options.fetchValues(asked)) this.#values.set(id, value);
    }
    return fillPlaces(bytes, places, { values: this.#values, limitBytes: this.#options.limitBytes });
  }
}
