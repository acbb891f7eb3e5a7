import type { RowText } from './disclosure.ts';
import { Share } from './waiting-rows.ts';

const chunkBytes = 512 * 1024;
/** More rows than fit, because a row has some 400 bytes. */
const mostRows = 2048;
const noShare = new Share('');

/** Outside V8's heap, because rows that wait for a tenth of a second would all move to the old generation. */
export class RowChunk {
  readonly #bytes: Buffer;
  readonly #ends = new Uint32Array(mostRows);
  readonly #shares = new Array<Share>(mostRows).fill(noShare);
  #count = 0;
  waiting = 0;

  constructor(leastBytes = 0) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(chunkBytes, leastBytes));
  }

  get count(): number {
    return this.#count;
  }

  get isOversized(): boolean {
    return this.#bytes.length > chunkBytes;
  }

  add(row: RowText, share: Share): boolean {
    const start = this.#startOf(this.#count);
    const room = this.#bytes.length - start - 1;
    if (this.#count === mostRows || (room < 3 * row.length && room < Buffer.byteLength(row))) return false;
    this.#bytes[start] = 0x0a;
    this.#shares[this.#count] = share;
    this.#ends[this.#count++] = start + 1 + this.#bytes.write(row, start + 1);
    return true;
  }

  cutTo(count: number): void {
    this.#count = count;
  }

  share(position: number): Share {
    return this.#shares[position] ?? noShare;
  }

  /** Of these rows, with the line break before each. */
  bytes(from: number, to: number): number {
    return this.#startOf(to) - this.#startOf(from);
  }

  lines(from: number, to: number): Buffer {
    return this.#bytes.subarray(this.#startOf(from), this.#startOf(to));
  }

  #startOf(position: number): number {
    return position === 0 ? 0 : (this.#ends[position - 1] ?? 0);
  }
}

export class RowRange<Segment = unknown> {
  readonly chunk: RowChunk;
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;

  constructor(chunk: RowChunk, segment: Segment, { from, to }: { from: number; to: number }) {
    this.chunk = chunk;
    this.segment = segment;
    this.from = from;
    this.to = to;
  }

  get length(): number {
    return this.to - this.from;
  }

  slice(start: number, end = this.length): RowRange<Segment> {
    const to = Math.min(this.from + end, this.to);
    return new RowRange(this.chunk, this.segment, { from: this.from + start, to });
  }

  lines(): Buffer {
    return this.chunk.lines(this.from, this.to);
  }

  text(): RowText {
    return this.lines().toString('utf8', 1);
  }
}
