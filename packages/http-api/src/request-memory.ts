import { type BodyBytes, parsedBytes, type Reservation } from '@sluice/body-bytes';
import type { Response } from 'express';

/** A body is in memory as it arrives, in one piece, encrypted, and on its way to Postgres. */
const copies = 4;
/** A body up to this size is reserved at once, with everything that may be parsed from it. */
const smallBody = 16 * 1024;
const mostParsed = 22;
/** A body of unknown length is reserved in steps of this size. */
const step = 64 * 1024;
/** The buffers of the connection hold an answer up to this size. */
const smallAnswer = 64 * 1024;
/** A reader that takes nothing for once to twice this time is gone. Node looks twice, as buffers may still fill. */
const defaultIdleReaderMs = 60_000;

export interface RequestMemoryOptions {
  bodyBytes?: BodyBytes;
  /** Default a minute. */
  idleReaderMs?: number;
}

/** Reserves memory before it is taken. Promises reject with 503 after a wait in vain, 400 for a caller who left. */
export class RequestMemory {
  readonly #bodyBytes: BodyBytes | undefined;
  readonly #idleReaderMs: number;
  readonly #tenantId: string;
  readonly #response: Response;
  #body: Reservation | undefined;
  #answer: Reservation | undefined;
  #isSending = false;

  constructor(options: RequestMemoryOptions, tenantId: string, response: Response) {
    this.#bodyBytes = options.bodyBytes;
    this.#idleReaderMs = options.idleReaderMs ?? defaultIdleReaderMs;
    this.#tenantId = tenantId;
    this.#response = response;
  }

  /** Call before a body is read, and again once `bytes` of it have come; undefined where there is room. */
  read(bytes: number, { length, limit }: { length: number | undefined; limit: number }): Promise<void> | undefined {
    const most = length ?? limit;
    const isSmall = most <= smallBody;
    const reserved = (isSmall ? copies + mostParsed : copies) * most;
    this.#body ??= this.#bodyBytes?.open(this.#tenantId, 'request', reserved);
    return this.#waitFor(this.#body?.growTo(isSmall ? reserved : copies * Math.min(bytes + step, most)));
  }

  parse(json: Buffer): Promise<void> | undefined {
    const isReserved = (this.#body?.bytes ?? 0) >= (copies + mostParsed) * json.length;
    return isReserved ? undefined : this.hold(parsedBytes(json));
  }

  /** Call before `bytes` more are read or made for the answer. */
  hold(bytes: number): Promise<void> | undefined {
    // Without a bound, because the size is unknown before; the eldest answer can always be finished.
    this.#answer ??= this.#bodyBytes?.open(this.#tenantId, 'answer', Number.POSITIVE_INFINITY);
    return this.#waitFor(this.#answer?.growBy(bytes));
  }

  #waitFor(room: Promise<void> | undefined): Promise<void> | undefined {
    if (!room) return undefined;
    const leave = () => {
      this.#body?.stopWaiting();
      this.#answer?.stopWaiting();
    };
    if (this.#response.destroyed) leave();
    this.#response.once('close', leave);
    return room.finally(() => this.#response.off('close', leave));
  }

  /** Call when the answer is handed to the connection, because nothing else is left of the request then. */
  send(bytes: number): void {
    if (bytes <= smallAnswer || this.#response.destroyed) return;
    this.#response.setTimeout(this.#idleReaderMs, () => this.#response.destroy());
    const held = this.#answer ?? this.#body;
    if (!held) return;
    this.#isSending = true;
    if (held !== this.#body) this.#body?.release();
    if (held.bytes > bytes) held.shrinkTo(bytes);
    this.#response.once('close', () => held.release());
  }

  end(): void {
    if (this.#isSending) return;
    this.#body?.release();
    this.#answer?.release();
  }
}
