import { IncomingMessage } from 'node:http';
import { WorkPieces } from '../work-pieces.ts';
import { leastBytesAlone, SmallChunks } from './small-chunks.ts';

/** Reading them takes about half a millisecond; then the connection waits while others are read. */
const manyChunks = 500;

/**
 * Connections with many small chunks are read one at a time, in turn among their clients. A read is up to 64 KiB, which
 * Node parses in one go for some 8 ms, and as long is left to others until the next one.
 */
const turns = new WorkPieces((next) => setTimeout(next, 16));

/**
 * Passes small chunks on together. One by one, a megabyte that is sent byte by byte takes 440 MB while it waits for its
 * reader, and a few such bodies keep all other requests waiting for seconds.
 */
export class GatheredRequest extends IncomingMessage {
  #small: SmallChunks | undefined;
  #hasSmall = false;
  #chunks = 0;
  #waitsForTurn = false;

  /** Node's parser calls it for each chunk. After false it reads no more until `_read` is called. */
  override push(chunk: Buffer | null): boolean {
    if (chunk === null || chunk.length >= leastBytesAlone) {
      this.#small?.flush();
      return super.push(chunk);
    }
    if (!this.#hasSmall) {
      this.#hasSmall = true; // most small bodies are a single chunk
      return super.push(chunk);
    }
    this.#small ??= new SmallChunks((gathered) => super.push(gathered));
    this.#small.add(chunk);
    this.#chunks += 1;
    if (this.#chunks >= manyChunks) this.#waitsForTurn = true;
    return !this.#waitsForTurn && this.readableLength + this.#small.bytes < this.readableHighWaterMark;
  }

  override _read(size: number): void {
    if (!this.#waitsForTurn) {
      super._read(size);
      return;
    }
    this.#waitsForTurn = false;
    this.#chunks = 0;
    void turns.turn(this.socket.remoteAddress ?? '').then(() => super._read(size));
  }
}
