const blockBytes = 16 * 1024;
/** Up to this size a loop copies faster than `copy`. */
const fewBytes = 32;

/** From this size on, chunks are worth a Buffer of their own. */
export const leastBytesAlone = 1024;
/** Joins the chunks of one event loop iteration, because a Buffer costs 500 bytes and a microsecond even for one byte. */
export class SmallChunks {
  readonly #passOn: (gathered: Buffer) => void;
  #block: Buffer | undefined;
  #used = 0;
  #isFlushDue = false;

  constructor(passOn: (gathered: Buffer) => void) {
    this.#passOn = passOn;
  }

  get bytes(): number {
    return this.#used;
  }

  add(chunk: Buffer): void {
    if (this.#used + chunk.length > blockBytes) this.flush();
    this.#block ??= Buffer.allocUnsafe(blockBytes);
    if (chunk.length > fewBytes) chunk.copy(this.#block, this.#used);
    else for (let at = 0; at < chunk.length; at += 1) this.#block[this.#used + at] = chunk[at] ?? 0;
    this.#used += chunk.length;
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(SmallChunks.#endTurn, this);
  }

  /** Call before anything else of the body is passed on. */
  flush(): void {
    if (!this.#block) return;
    const gathered = this.#block.subarray(0, this.#used);
    this.#block = undefined;
    this.#used = 0;
    this.#passOn(gathered);
  }

  static #endTurn(this: void, chunks: SmallChunks): void {
    chunks.#isFlushDue = false;
    chunks.flush();
  }
}
