import { endedEarly, ServiceError } from '@sluice/problems';
import { type BodyDirection, type Claim, Room, type TenantBytes } from './room.ts';

/** The memory reserved for one body and everything made from it. */
export interface Reservation {
  readonly bytes: number;
  /**
   * Call before `bytes` more are allocated. Undefined if the memory is available at once. Growths are served in order,
   * one after another.
   * @throws {ServiceError} 503 once its growths have waited too long; 400 if it would have to wait and the caller has
   * left.
   */
  grow(bytes: number): Promise<void> | undefined;
  /** Call once `bytes` have been freed. The body may still grow by `yetToCome`, and memory is kept free for that. */
  shrink(bytes: number, yetToCome?: number): void;
  /** After it the reservation never grows again. */
  release(): void;
}

/** The connection or response of the caller. */
export interface Leaver {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

export interface ReservationOptions {
  tenantId: string;
  direction: BodyDirection;
  /** The most that the body will take, if known, because memory is kept free for the oldest body. Default 0. */
  mostBytes?: number;
  /** Once the caller has left, nothing waits for memory, because nobody would receive the result. */
  caller?: Leaver;
}

/**
 * Limits the memory of bodies in this process; further bodies wait. Tenants are served in rotation, within a Tenant the
 * oldest body first, and a body that fits may overtake others. {@link Room} decides.
 */
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

const leastSweep = 1000;

interface Waiter {
  claim: Claim;
  number: number;
  more: number;
  grant(): void;
}

interface Lane extends TenantBytes {
  open: number;
  readonly waiting: Record<BodyDirection, Waiter[]>;
}

export function bodyBytesOf({ processBytes, tenantBytes, requestPart, waitMs }: BodyBytesOptions): BodyBytes {
  const room = new Room(processBytes, tenantBytes, requestPart);
  /** Empty lanes stay, because a map that grows and shrinks with each body is copied repeatedly. */
  const lanes = new Map<string, Lane>();
  let sweepAt = leastSweep;
  const waitingLanes = new Set<Lane>();
  let openings = 0;
  let waiting = 0;
  let refusals = 0;

  function laneOf(tenantId: string): Lane {
    const known = lanes.get(tenantId);
    if (known) return known;
    if (lanes.size >= sweepAt) sweep();
    const lane: Lane = {
      tenantId,
      held: 0,
      ofRequests: 0,
      open: 0,
      growing: { request: new Set(), answer: new Set() },
      ofGrowing: { request: 0, answer: 0 },
      waiting: { request: [], answer: [] },
    };
    lanes.set(tenantId, lane);
    return lane;
  }

  function sweep(): void {
    for (const [tenantId, { open }] of lanes) if (open === 0) lanes.delete(tenantId);
    sweepAt = Math.max(leastSweep, 2 * lanes.size);
  }

  /** Answers go first, because requests wait for them to end. */
  const nextOf = ({ waiting: { answer, request } }: Lane) => answer[0] ?? request[0];

  function withdraw(lane: Lane, waiter: Waiter): void {
    const queue = lane.waiting[waiter.claim.direction];
    queue.splice(queue.indexOf(waiter), 1);
    waiting -= 1;
    if (!nextOf(lane)) waitingLanes.delete(lane);
  }

  function grantNext(): void {
    for (let next = findNext(); next; next = findNext()) {
      const [lane, waiter] = next;
      withdraw(lane, waiter);
      if (waitingLanes.delete(lane)) waitingLanes.add(lane);
      room.count(waiter.claim, waiter.more);
      waiter.grant();
    }
  }

  function findNext(): [Lane, Waiter] | undefined {
    for (const lane of waitingLanes) {
      const waiter = nextOf(lane);
      if (waiter && room.fits(waiter.claim, waiter.more)) return [lane, waiter];
    }
    return undefined;
  }

  function enqueue(lane: Lane, waiter: Waiter): void {
    const queue = lane.waiting[waiter.claim.direction];
    const behind = queue.findLastIndex(({ number }) => number < waiter.number);
    queue.splice(behind + 1, 0, waiter);
    waitingLanes.add(lane);
    waiting += 1;
    room.noteGrowth(waiter.claim);
  }

  class BodyReservation implements Reservation {
    readonly #lane: Lane;
    readonly #claim: Claim;
    readonly #number = openings++;
    readonly #most: number;
    #waitMs = waitMs;
    #isOpen = true;
    #waitsFor = 0;
    #stop: ((error: ServiceError) => void) | undefined;
    #growing: Promise<void> | undefined;
    #hasLeft = false;
    readonly #caller: Leaver | undefined;
    #onClose: (() => void) | undefined;

    constructor(lane: Lane, { direction, mostBytes = 0, caller }: ReservationOptions) {
      this.#lane = lane;
      this.#most = room.mostOfOne(direction);
      this.#claim = { tenant: lane, direction, bytes: 0, mostBytes: Math.min(mostBytes, this.#most) };
      this.#caller = caller;
      lane.open += 1;
    }

    get bytes() {
      return this.#claim.bytes;
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

    #grow(bytes: number): Promise<void> | undefined {
      if (!this.#isOpen) return Promise.reject(endedEarly());
      const claim = this.#claim;
      const more = Math.min(claim.bytes + bytes, this.#most) - claim.bytes;
      if (more <= 0) return undefined;
      claim.mostBytes = Math.max(claim.mostBytes, claim.bytes + more);
      const { answer, request } = this.#lane.waiting;
      const isFirst = answer.length === 0 && (claim.direction === 'answer' || request.length === 0);
      const fits = isFirst && room.fits(claim, more);
      if (!fits && this.#isLeft()) return Promise.reject(endedEarly());
      if (!fits || claim.bytes + more < claim.mostBytes) this.#followCaller();
      if (!fits) return this.#wait(more);
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

    #wait(more: number): Promise<void> {
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
      const waiter: Waiter = { claim: this.#claim, number: this.#number, more, grant };
      this.#stop = (error) => {
        end();
        withdraw(this.#lane, waiter);
        reject(error);
        grantNext();
      };
      const timer = setTimeout(() => {
        refusals += 1;
        this.#stop?.(noRoom());
      }, this.#waitMs);
      this.#waitsFor = more;
      enqueue(this.#lane, waiter);
      grantNext();
      return promise;
    }

    shrink(bytes: number, yetToCome = 0): void {
      const claim = this.#claim;
      const less = Math.min(Math.max(bytes, 0), claim.bytes);
      const left = claim.bytes - less;
      // A caller who left grows no more, and memory reserved for growth that never comes starves large bodies
      const most = this.#isLeft() ? 0 : Math.min(left + yetToCome, this.#most);
      if (left < most) this.#followCaller();
      claim.mostBytes = Math.max(most, left + this.#waitsFor);
      room.count(claim, -less);
      if (waiting > 0) grantNext();
    }

    #leave(): void {
      this.#hasLeft = true;
      this.#stop?.(endedEarly());
      this.shrink(0);
    }

    release(): void {
      if (!this.#isOpen) return;
      this.#isOpen = false;
      if (this.#onClose) this.#caller?.off('close', this.#onClose);
      this.#leave();
      this.#lane.open -= 1;
      this.shrink(this.#claim.bytes);
    }
  }

  return {
    open: (options) => new BodyReservation(laneOf(options.tenantId), options),
    limit: processBytes,
    tenantLimit: tenantBytes,
    get held() {
      return room.held;
    },
    get waiting() {
      return waiting;
    },
    get refusals() {
      return refusals;
    },
  };
}

function noRoom(): ServiceError {
  return new ServiceError('unavailable', 'There is no memory for this request at the moment; try again later', {
    retryAfterSeconds: 1,
    limit: 'body_bytes',
  });
}
