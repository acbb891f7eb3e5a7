import type { RowText } from './disclosure.ts';
import { RowChunk, RowRange } from './row-chunk.ts';

export interface SpooledRow<Segment> {
  row: RowText;
  segment: Segment;
}

export class RowQueue<Segment> {
  #ranges: RowRange<Segment>[] = [];
  #chunk = new RowChunk();
  /** Reused, because rows that arrive during a write need a second chunk. */
  #spare: RowChunk | undefined;
  #written = 0;
  #bytes = 0;

  /** Includes rows that are written and not yet pushed. */
  get length(): number {
    return this.#written;
  }

  get bytes(): number {
    return this.#bytes;
  }

  write(row: RowText): RowChunk {
    this.#chunk = this.#writeTo(this.#chunk, row);
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
    for (const { row, segment } of rows) {
      chunk = this.#writeTo(chunk, row);
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

  #writeTo(chunk: RowChunk, row: RowText): RowChunk {
    let own = chunk;
    if (!own.add(row)) {
      own = this.#spare ?? new RowChunk();
      this.#spare = undefined;
      if (!own.add(row)) {
        own = new RowChunk(1 + Buffer.byteLength(row));
        own.add(row);
      }
    }
    own.waiting++;
    this.#written++;
    this.#bytes += own.bytes(own.count - 1, own.count);
    return own;
  }

  #leave({ chunk, length, bytes }: RowRange): void {
    this.#bytes -= bytes;
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
