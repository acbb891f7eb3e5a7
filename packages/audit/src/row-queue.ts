import type { RowText } from './disclosure.ts';
import { RowChunk, RowRange } from './row-chunk.ts';
import type { Share, WaitingRows } from './waiting-rows.ts';

export interface SpooledRow<Segment> {
  row: RowText;
  tenantId: string;
  segment: Segment;
}

export class RowQueue<Segment> {
  #ranges: RowRange<Segment>[] = [];
  #chunk = new RowChunk();
  /** Reused, because rows that arrive during a write need a second chunk. */
  #spare: RowChunk | undefined;
  readonly #waiting: WaitingRows;
  #written = 0;

  constructor(waiting: WaitingRows) {
    this.#waiting = waiting;
  }

  /** Includes rows that are written but not yet pushed. */
  get length(): number {
    return this.#written;
  }

  write(row: RowText, share: Share): RowChunk {
    this.#chunk = this.#writeTo(this.#chunk, row, share);
    return this.#chunk;
  }

  push(chunk: RowChunk, from: number, segment: Segment): void {
    this.#ranges = joined(this.#ranges, new RowRange(chunk, segment, { from, to: chunk.count }));
  }

  takeBack(chunk: RowChunk, from: number): void {
    const gone = new RowRange(chunk, undefined, { from, to: chunk.count });
    chunk.cutTo(from);
    this.#leave(gone);
  }

  putFirst(rows: readonly SpooledRow<Segment>[]): void {
    if (rows.length === 0) return;
    let ranges: RowRange<Segment>[] = [];
    let chunk = new RowChunk();
    for (const { row, tenantId, segment } of rows) {
      chunk = this.#writeTo(chunk, row, this.#waiting.of(tenantId));
      ranges = joined(ranges, new RowRange(chunk, segment, { from: chunk.count - 1, to: chunk.count }));
    }
    this.#ranges = [...ranges, ...this.#ranges];
  }

  first(most: number): RowRange<Segment> | undefined {
    return this.#ranges[0]?.slice(0, most);
  }

  removeFirst(batch: RowRange<Segment>): void {
    const rest = this.#ranges[0]?.slice(batch.length);
    if (rest && rest.length > 0) this.#ranges[0] = rest;
    else this.#ranges.shift();
    this.#leave(batch);
  }

  #writeTo(chunk: RowChunk, row: RowText, share: Share): RowChunk {
    let own = chunk;
    if (!own.add(row, share)) {
      own = this.#spare ?? new RowChunk();
      this.#spare = undefined;
      if (!own.add(row, share)) {
        own = new RowChunk(1 + Buffer.byteLength(row));
        own.add(row, share);
      }
    }
    own.waiting++;
    this.#written++;
    this.#waiting.add(share, own.bytes(own.count - 1, own.count));
    return own;
  }

  #leave({ chunk, from, to, length }: RowRange): void {
    for (let i = from; i < to; i++) this.#waiting.remove(chunk.share(i), chunk.bytes(i, i + 1));
    chunk.waiting -= length;
    this.#written -= length;
    if (chunk.waiting > 0) return;
    chunk.cutTo(0);
    if (chunk !== this.#chunk && !chunk.isOversized) this.#spare = chunk;
  }
}

function joined<Segment>(ranges: RowRange<Segment>[], next: RowRange<Segment>): RowRange<Segment>[] {
  const last = ranges.at(-1);
  if (last?.chunk === next.chunk && last.segment === next.segment && last.to === next.from) {
    ranges[ranges.length - 1] = new RowRange(last.chunk, last.segment, { from: last.from, to: next.to });
  } else {
    ranges.push(next);
  }
  return ranges;
}
