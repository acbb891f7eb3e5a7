import { ClaimedPart, type Leaver, type MemoryPart, type PartName, type Place } from './memory-part.ts';
import { Queue } from './queue.ts';
import { Room } from './room.ts';

/** The memory of one request: of its body, its answer, and everything made from them. */
export interface Reservation {
  /**
   * The part of this name, which the first call opens. `mostBytes`: the most that it will take, if known, because
   * memory is kept free for the oldest body. It counts only in the call that opens it.
   */
  part(name: PartName, mostBytes?: number): MemoryPart;
  /** Releases all parts. None grows after it. */
  release(): void;
}

interface ReservationOptions {
  tenantId: string;
  /** Once the caller has left, nothing waits for memory, because nobody would receive the result. */
  caller?: Leaver | undefined;
}

/** Limits the memory of requests in this process; further ones wait. {@link Room} decides, {@link Queue} serves. */
export interface BodyBytes {
  open(options: ReservationOptions): Reservation;
  readonly held: number;
  readonly limit: number;
  readonly tenantLimit: number;
  readonly waiting: number;
  readonly refusals: number;
}

export interface BodyBytesOptions {
  processBytes: number;
  tenantBytes: number;
  requestPart: number;
  waitMs: number;
}

export function bodyBytesOf({ processBytes, tenantBytes, requestPart, waitMs }: BodyBytesOptions): BodyBytes {
  const room = new Room(processBytes, tenantBytes, requestPart);
  const queue = new Queue(room);
  const place = { room, queue, waitMs };
  return {
    open: (options) => new OneReservation(place, options),
    limit: processBytes,
    tenantLimit: tenantBytes,
    get held() {
      return room.held;
    },
    get waiting() {
      return queue.waiting;
    },
    get refusals() {
      return queue.refusals;
    },
  };
}

class OneReservation implements Reservation {
  readonly #place: Place;
  readonly #options: ReservationOptions;
  readonly #parts: Partial<Record<PartName, ClaimedPart>> = {};
  #isOver = false;

  constructor(place: Place, options: ReservationOptions) {
    this.#place = place;
    this.#options = options;
  }

  part(name: PartName, mostBytes = 0): MemoryPart {
    const known = this.#parts[name];
    if (known && (known.isOpen || this.#isOver)) return known;
    const part = new ClaimedPart(this.#place, this.#options, { name, mostBytes });
    this.#parts[name] = part;
    if (this.#isOver) part.release();
    return part;
  }

  release(): void {
    this.#isOver = true;
    for (const part of Object.values(this.#parts)) part.release();
  }
}
