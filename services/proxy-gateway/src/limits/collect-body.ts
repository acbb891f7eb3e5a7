import { growAsItArrives, type MemoryPart } from '@sluice/body-bytes';
import type { BodyReader, BodyStream } from '../http/message.ts';
import { copies } from './body-memory.ts';

export interface Collecting {
  /** For the body and what is made from it; grows while the body arrives. */
  memory: MemoryPart;
  limitBytes: number;
  /** Its length, if that is known and less than the limit. */
  mostLength?: number;
  tooLarge(): Error;
}

/** Reads a body whole. @throws what ended the answer, or what `tooLarge` gives. */
export function collectBody(body: BodyStream, collecting: Collecting): Promise<Buffer> {
  return new Collector(body, collecting).begin();
}

class Collector implements BodyReader {
  readonly #body: BodyStream;
  readonly #collecting: Collecting;
  readonly #collected = Promise.withResolvers<Buffer>();
  #chunks: Buffer[] = [];
  #size = 0;
  /** Resolves when the memory for what has arrived is there. */
  #room: Promise<void> | undefined;

  constructor(body: BodyStream, collecting: Collecting) {
    this.#body = body;
    this.#collecting = collecting;
  }

  begin(): Promise<Buffer> {
    this.#waitForRoom();
    this.#body.read(this);
    return this.#collected.promise;
  }

  onData(chunk: Buffer): boolean {
    this.#size += chunk.length;
    if (this.#size > this.#collecting.limitBytes) {
      this.#giveUp(this.#collecting.tooLarge());
      return true;
    }
    this.#chunks.push(chunk);
    if (!this.#room) this.#waitForRoom();
    return this.#room === undefined;
  }

  /** Everything may have arrived while its memory was waited for. */
  onEnd(): void {
    if (this.#room) void this.#room.then(() => this.#finish());
    else this.#finish();
  }

  onError(error: unknown): void {
    this.#collected.reject(error);
    this.#chunks = [];
  }

  #waitForRoom(): void {
    const { memory, limitBytes, mostLength = limitBytes } = this.#collecting;
    const room = growAsItArrives(memory, this.#size, { copies, mostLength });
    if (!room) return;
    this.#room = room.then(
      () => {
        this.#room = undefined;
        this.#body.resume();
      },
      (error: unknown) => this.#giveUp(error),
    );
  }

  #finish(): void {
    const [first] = this.#chunks;
    this.#collected.resolve(first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks));
    this.#chunks = [];
  }

  /** If the answer has ended already, `abort` tells nobody. */
  #giveUp(error: unknown): void {
    this.#body.abort(error);
    this.#collected.reject(error);
  }
}
