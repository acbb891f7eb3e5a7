import { endedEarly, ServiceError } from '@sluice/problems';
import { type BodyDirection, type Claim, Room, type TenantBytes } from './room.ts';

/** The memory reserved for one body and everything made from it. */
export interface Reservation {
  readonly bytes: number;
  /** Undefined if there is room at once. @throws {ServiceError} 503 after too long a wait; 400 if the caller left. */
  growTo(bytes: number): Promise<void> | undefined;
  /** Grows by `bytes` more. A growth begins only when the one before has ended. */
  growBy(bytes: number): Promise<void> | undefined;
  /** Shrinks to `bytes`; it may grow to `mostBytes` again. */
  shrinkTo(bytes: number, mostBytes?: number): void;
  /** Call it when the caller has left; the reservation never grows again. */
  stopWaiting(): void;
  release(): void;
}

/**
 * Limits the memory that bodies take in this process; beyond it they wait. Tenants take turns, within a Tenant the
 * eldest body goes first, and a body that fits may overtake others. {@link Room} decides.
 */
export interface BodyBytes {
  open(tenantId: string, direction: BodyDirection, mostBytes: number): Reservation;
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

export function createBodyBytes({ processBytes, tenantBytes, requestPart, waitMs }: BodyBytesOptions): BodyBytes {
  const room = new Room(processBytes, tenantBytes, requestPart);
  /** Empty lanes stay, because a map that grows and shrinks with each body is copied again and again. */
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

    constructor(lane: Lane, direction: BodyDirection, mostBytes: number) {
      this.#lane = lane;
      this.#most = room.mostOfOne(direction);
      this.#claim = { tenant: lane, direction, bytes: 0, mostBytes: Math.min(mostBytes, this.#most) };
      lane.open += 1;
    }

    get bytes() {
      return this.#claim.bytes;
    }

    growTo(bytes: number): Promise<void> | undefined {
      return this.#awaited(this.#growing?.then(() => this.#grow(bytes)) ?? this.#grow(bytes));
    }

    growBy(bytes: number): Promise<void> | undefined {
      const grow = () => this.#grow(this.#claim.bytes + bytes);
      return this.#awaited(this.#growing?.then(grow) ?? grow());
    }

    #awaited(grown: Promise<void> | undefined): Promise<void> | undefined {
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
      if (this.#hasLeft) return Promise.reject(endedEarly());
      const claim = this.#claim;
      const more = Math.min(bytes, this.#most) - claim.bytes;
      if (more <= 0) return undefined;
      claim.mostBytes = Math.max(claim.mostBytes, claim.bytes + more);
      const { answer, request } = this.#lane.waiting;
      const isFirst = answer.length === 0 && (claim.direction === 'answer' || request.length === 0);
      if (!isFirst || !room.fits(claim, more)) return this.#wait(more);
      room.count(claim, more);
      return undefined;
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

    shrinkTo(bytes: number, mostBytes = bytes): void {
      const claim = this.#claim;
      const less = Math.max(claim.bytes - bytes, 0);
      // Who has left grows no more, and room that is kept free for growth that never comes starves large bodies
      const most = this.#hasLeft ? 0 : Math.min(mostBytes, this.#most);
      claim.mostBytes = Math.max(most, claim.bytes - less + this.#waitsFor);
      room.count(claim, -less);
      if (waiting > 0) grantNext();
    }

    stopWaiting(): void {
      this.#hasLeft = true;
      this.#stop?.(endedEarly());
      this.shrinkTo(this.#claim.bytes);
    }

    release(): void {
      if (!this.#isOpen) return;
      this.#isOpen = false;
      this.stopWaiting();
      this.#lane.open -= 1;
      this.shrinkTo(0);
    }
  }

  return {
    open: (tenantId, direction, mostBytes) => new BodyReservation(laneOf(tenantId), direction, mostBytes),
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
