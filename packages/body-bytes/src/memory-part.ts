import { endedEarly, ServiceError } from '@sluice/problems';
import type { Lane, Queue, Waiter } from './queue.ts';
import type { Claim, Room } from './room.ts';

/** Memory that a request has for one purpose. A transform's calls, for example, grow the part of the body they run on. */
export interface MemoryPart {
  readonly bytes: number;
  /**
   * Call before `bytes` more are allocated. Undefined if the memory is available at once. Growths are served in order,
   * one after another.
   * @throws {ServiceError} 503 once its growths have waited too long; 400 if it would have to wait and the caller has
   * left.
   */
  grow(bytes: number): Promise<void> | undefined;
  /** Grows by what it lacks of `bytes`. */
  growTo(bytes: number): Promise<void> | undefined;
  /**
   * Call once no more than `bytes` are in memory. Memory is kept free for growth to `mostBytes`; without it for none.
   */
  shrinkTo(bytes: number, mostBytes?: number): void;
  /** After it the part never grows again. */
  release(): void;
}

/** The connection or response of the caller. */
export interface Leaver {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/**
 * What a part is for. `decoder`: a large decoder of a streamed body. `window`: what a streamed body needs beyond its
 * fixed windows. `guard`: what finds values in an answer.
 */
export type PartName = 'request' | 'answer' | 'decoder' | 'window' | 'guard';

/** A decoder up to this size, such as gzip's, takes no more than the beginning of a body, so it need not queue. */
const smallDecoder = 64 * 1024;

export interface Place {
  room: Room;
  queue: Queue;
  waitMs: number;
}

interface Owner {
  tenantId: string;
  caller?: Leaver | undefined;
}

export class ClaimedPart implements MemoryPart {
  readonly #place: Place;
  readonly #lane: Lane;
  readonly #claim: Claim;
  readonly #number: number;
  readonly #most: number;
  readonly #isDecoder: boolean;
  readonly #caller: Leaver | undefined;
  #waitMs: number;
  #isOpen = true;
  #waitsFor = 0;
  #stop: ((error: ServiceError) => void) | undefined;
  #growing: Promise<void> | undefined;
  #hasLeft = false;
  #onClose: (() => void) | undefined;

  constructor(place: Place, { tenantId, caller }: Owner, { name, mostBytes }: { name: PartName; mostBytes: number }) {
    const direction = name === 'answer' || name === 'guard' ? 'answer' : 'request';
    this.#place = place;
    this.#waitMs = place.waitMs;
    this.#lane = place.queue.laneOf(tenantId);
    this.#lane.open += 1;
    this.#number = place.queue.openings++;
    this.#most = place.room.mostOfOne(direction);
    this.#isDecoder = name === 'decoder';
    this.#claim = {
      tenant: this.#lane,
      direction,
      bytes: 0,
      mostBytes: Math.min(mostBytes, this.#most),
      ofDecoders: 0,
    };
    this.#caller = caller;
  }

  get bytes() {
    return this.#claim.bytes;
  }

  get isOpen() {
    return this.#isOpen;
  }

  grow(bytes: number): Promise<void> | undefined {
    const grown = this.#growing?.then(() => this.#grow(bytes)) ?? this.#grow(bytes);
    if (!grown) return undefined;
    const growing = grown
      .catch(() => {}) // its caller has the error
      .finally(() => {
        if (this.#growing === growing) this.#growing = undefined;
      });
    this.#growing = growing;
    return grown;
  }

  /** What it lacks is known once growths before it have ended. */
  growTo(bytes: number): Promise<void> | undefined {
    const grow = () => this.grow(bytes - this.#claim.bytes);
    return this.#growing?.then(grow) ?? grow();
  }

  #grow(bytes: number): Promise<void> | undefined {
    if (!this.#isOpen) return Promise.reject(endedEarly());
    const { room, queue } = this.#place;
    const claim = this.#claim;
    const more = Math.min(claim.bytes + bytes, this.#most) - claim.bytes;
    if (more <= 0) return undefined;
    claim.mostBytes = Math.max(claim.mostBytes, claim.bytes + more);
    const isAdmitted = !this.#isDecoder || more <= smallDecoder || queue.admitDecoder(this.#lane, claim, more);
    const fits = isAdmitted && queue.fits(this.#lane, claim, more);
    if (!fits && this.#isLeft()) {
      if (this.#isDecoder) queue.endDecoding(this.#lane, claim);
      return Promise.reject(endedEarly());
    }
    if (!fits || claim.bytes + more < claim.mostBytes) this.#followCaller();
    if (!fits) return this.#wait(more, isAdmitted ? claim.direction : 'decoder');
    room.count(claim, more);
    return undefined;
  }

  #isLeft(): boolean {
    return this.#hasLeft || this.#caller?.destroyed === true;
  }

  /** Memory is kept free for a growing body, so the caller is watched as long as it may grow. */
  #followCaller(): void {
    if (this.#onClose || !this.#caller) return;
    this.#onClose = () => this.#leave();
    this.#caller.once('close', this.#onClose);
  }

  #wait(more: number, name: Waiter['queue']): Promise<void> {
    const { queue } = this.#place;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // its rejection may come after everybody stopped waiting, and would end the process
    const begunAt = performance.now();
    const end = () => {
      clearTimeout(timer);
      this.#waitsFor = 0;
      this.#waitMs = Math.max(this.#waitMs - (performance.now() - begunAt), 1);
      this.#stop = undefined;
    };
    const grant = () => {
      end();
      resolve();
    };
    const waiter: Waiter = { lane: this.#lane, claim: this.#claim, number: this.#number, queue: name, more, grant };
    this.#stop = (error) => {
      end();
      queue.withdraw(waiter);
      reject(error);
      if (this.#isDecoder) queue.endDecoding(this.#lane, this.#claim);
      queue.grantNext();
    };
    const timer = setTimeout(() => {
      queue.refusals += 1;
      this.#stop?.(noRoom());
    }, this.#waitMs);
    this.#waitsFor = more;
    queue.enqueue(waiter);
    return promise;
  }

  shrinkTo(bytes: number, mostBytes = 0): void {
    const { room, queue } = this.#place;
    const claim = this.#claim;
    const left = Math.min(Math.max(bytes, 0), claim.bytes);
    // A caller who left grows no more, and memory reserved for growth that never comes starves large bodies
    const most = this.#isLeft() ? 0 : Math.min(mostBytes, this.#most);
    if (left < most) this.#followCaller();
    claim.mostBytes = Math.max(most, left + this.#waitsFor);
    room.count(claim, left - claim.bytes);
    if (queue.waiting > 0) queue.grantNext();
  }

  #leave(): void {
    this.#hasLeft = true;
    this.#stop?.(endedEarly());
    this.shrinkTo(this.#claim.bytes);
  }

  release(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#onClose) this.#caller?.off('close', this.#onClose);
    this.#leave();
    this.#lane.open -= 1;
    if (this.#isDecoder) this.#place.queue.endDecoding(this.#lane, this.#claim);
    this.shrinkTo(0);
  }
}

function noRoom(): ServiceError {
  return new ServiceError('unavailable', 'The service has no free memory for this request; try again later', {
    retryAfterSeconds: 1,
    limit: 'body_bytes',
  });
}
