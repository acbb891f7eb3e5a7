import type { Socket } from 'node:net';

/** What happens to the bytes of one direction. */
export interface Conditions {
  /** How long a byte is on its way, in milliseconds. */
  latencyMs: number;
  /** Up to this much is added at random. */
  jitterMs: number;
  bytesPerSecond: number;
  /** While set, nothing is delivered; what arrives is kept for later. */
  isStalled: boolean;
  /** Each connection delivers only this many bytes; then it ends. */
  truncateAtByte: number;
}

export const undisturbed: Conditions = {
  latencyMs: 0,
  jitterMs: 0,
  bytesPerSecond: Number.POSITIVE_INFINITY,
  isStalled: false,
  truncateAtByte: Number.POSITIVE_INFINITY,
};

interface LaneOptions {
  from: Socket;
  to: Socket;
  /** Read again whenever something happens. */
  conditions: Conditions;
  /** From 0, below 1. */
  random: () => number;
  /** Called before a chunk goes on its way. */
  onChunk: (chunk: Buffer) => void;
}

/** More than this is not taken from the sender, who then waits as TCP has it. */
const mostQueuedBytes = 1024 * 1024;

/**
 * One direction of a connection. What the sender wrote before it went away still arrives, however late, as it does on a
 * network.
 */
export class Lane {
  readonly #options: LaneOptions;
  #queue: { chunk: Buffer; dueAt: number }[] = [];
  #queuedBytes = 0;
  #delivered = 0;
  #lastDueAt = 0;
  #hasEnded = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    const { from, to } = options;
    from
      .on('data', (chunk: Buffer) => this.#take(chunk))
      .on('end', () => this.#end())
      .on('error', () => this.#end())
      .on('close', () => this.#end());
    to.on('drain', () => this.pump()).on('close', () => this.#stop());
  }

  #take(chunk: Buffer): void {
    const { from, to, conditions, random, onChunk } = this.#options;
    onChunk(chunk);
    if (to.destroyed) return;
    const { latencyMs, jitterMs, bytesPerSecond } = conditions;
    const arrivesAt = Math.max(performance.now() + latencyMs + jitterMs * random(), this.#lastDueAt);
    this.#lastDueAt = arrivesAt + (1000 * chunk.length) / bytesPerSecond;
    this.#queue.push({ chunk, dueAt: this.#lastDueAt });
    this.#queuedBytes += chunk.length;
    if (this.#queuedBytes > mostQueuedBytes) from.pause();
    this.pump();
  }

  #end(): void {
    this.#hasEnded = true;
    this.pump();
  }

  /** Delivers what is due; to be called when the conditions change. */
  pump(): void {
    clearTimeout(this.#timer);
    const { from, to, conditions } = this.#options;
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      if (conditions.isStalled || to.writableNeedDrain || to.destroyed) return;
      const wait = next.dueAt - performance.now();
      if (wait > 0) {
        this.#timer = setTimeout(() => this.pump(), Math.ceil(wait));
        return;
      }
      this.#queue.shift();
      this.#queuedBytes -= next.chunk.length;
      if (!this.#deliver(next.chunk)) return;
      if (this.#queuedBytes <= mostQueuedBytes) from.resume();
    }
    if (!this.#hasEnded || conditions.isStalled) return;
    if (from.destroyed) to.destroySoon();
    else to.end();
  }

  /** False where that was the last byte of the connection. */
  #deliver(chunk: Buffer): boolean {
    const { from, to, conditions } = this.#options;
    const room = conditions.truncateAtByte - this.#delivered;
    this.#delivered += chunk.length;
    if (chunk.length < room) {
      to.write(chunk);
      return true;
    }
    this.#queue = [];
    to.end(chunk.subarray(0, Math.max(0, room)));
    from.destroy();
    return false;
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#options.from.resume();
  }
}
