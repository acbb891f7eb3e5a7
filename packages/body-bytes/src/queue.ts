import type { BodyDirection, Claim, Room, TenantBytes } from './room.ts';

export interface Waiter {
  readonly lane: Lane;
  readonly claim: Claim;
  queue: keyof Lane['waiting'];
  /** The order in which the parts were opened. */
  readonly number: number;
  readonly more: number;
  grant(): void;
}

export interface Lane extends TenantBytes {
  open: number;
  /** Decoders wait apart until the room admits them, and then among the requests. */
  readonly waiting: Record<BodyDirection | 'decoder', Waiter[]>;
}

const leastSweep = 1000;

/** Serves Tenants in rotation, within a Tenant the oldest part first. One that fits may overtake others. */
export class Queue {
  readonly #room: Room;
  /** Empty lanes stay, because a map that grows and shrinks with each body is copied repeatedly. */
  readonly #lanes = new Map<string, Lane>();
  #sweepAt = leastSweep;
  readonly #waitingLanes = new Set<Lane>();
  waiting = 0;
  refusals = 0;
  openings = 0;

  constructor(room: Room) {
    this.#room = room;
  }

  laneOf(tenantId: string): Lane {
    const known = this.#lanes.get(tenantId);
    if (known) return known;
    if (this.#lanes.size >= this.#sweepAt) this.#sweep();
    const lane: Lane = {
      tenantId,
      held: 0,
      ofRequests: 0,
      ofDecoders: 0,
      open: 0,
      growing: { request: new Set(), answer: new Set() },
      ofGrowing: { request: 0, answer: 0 },
      waiting: { request: [], answer: [], decoder: [] },
    };
    this.#lanes.set(tenantId, lane);
    return lane;
  }

  #sweep(): void {
    for (const [tenantId, { open }] of this.#lanes) if (open === 0) this.#lanes.delete(tenantId);
    this.#sweepAt = Math.max(leastSweep, 2 * this.#lanes.size);
  }

  admitDecoder({ waiting: { decoder } }: Lane, claim: Claim, more: number): boolean {
    return decoder.length === 0 && this.#room.admitDecoder(claim, more);
  }

  fits({ waiting: { answer, request } }: Lane, claim: Claim, more: number): boolean {
    const isFirst = answer.length === 0 && (claim.direction === 'answer' || request.length === 0);
    return isFirst && this.#room.fits(claim, more);
  }

  enqueue(waiter: Waiter): void {
    this.waiting += 1;
    this.#insert(waiter);
    this.grantNext();
  }

  #insert(waiter: Waiter): void {
    const { lane, claim } = waiter;
    const queue = lane.waiting[waiter.queue];
    const behind = queue.findLastIndex(({ number }) => number < waiter.number);
    queue.splice(behind + 1, 0, waiter);
    if (waiter.queue === 'decoder') return; // memory is kept free for it only once it is admitted
    this.#waitingLanes.add(lane);
    this.#room.noteGrowth(claim);
  }

  withdraw(waiter: Waiter): void {
    const { lane } = waiter;
    const queue = lane.waiting[waiter.queue];
    queue.splice(queue.indexOf(waiter), 1);
    this.waiting -= 1;
    if (!nextOf(lane)) this.#waitingLanes.delete(lane);
  }

  /** Call when a decoder has ended, or waits no more. */
  endDecoding({ waiting: { decoder } }: Lane, claim: Claim): void {
    this.#room.endDecoding(claim);
    for (let next = decoder[0]; next && this.#room.admitDecoder(next.claim, next.more); next = decoder[0]) {
      decoder.shift();
      next.queue = 'request';
      this.#insert(next);
    }
  }

  grantNext(): void {
    for (let next = this.#findNext(); next; next = this.#findNext()) {
      const { lane, claim, more } = next;
      this.withdraw(next);
      if (this.#waitingLanes.delete(lane)) this.#waitingLanes.add(lane);
      this.#room.count(claim, more);
      next.grant();
    }
  }

  #findNext(): Waiter | undefined {
    for (const lane of this.#waitingLanes) {
      const waiter = nextOf(lane);
      if (waiter && this.#room.fits(waiter.claim, waiter.more)) return waiter;
    }
    return undefined;
  }
}

/** Answers go first, because requests wait for them to end. */
const nextOf = ({ waiting: { answer, request } }: Lane) => answer[0] ?? request[0];
