import type { ServiceError } from '@sluice/problems';
import { tooManyWaiting } from './failures.ts';

export interface SlotOptions {
  /** How many calls may be under way. */
  slots: number;
  /** How many may wait for one of these. */
  maxWaiting: number;
  /** Called for each that was refused, since as many waited as may. */
  onRefused?: (() => void) | undefined;
}

/** A call that needs a slot. */
export interface WaitingCall {
  readonly proxyId: string;
  readonly callerId: string;
  /** Where it stands among those that hold a slot; the slots write it. */
  place: number;
  /** Its turn has come; it holds a slot from now on. */
  onSlot(): void;
  /** It waited, and makes room for a call of somebody who has fewer waiting. */
  onRefused(error: ServiceError): void;
}

/**
 * Who may be under way to one origin, over either transport. Slots and places to wait go in turn among the Tenant's Proxies,
 * and within a Proxy among its callers: the next slot goes to who holds the fewest, and where too many wait, the newest call
 * of who has the most waiting is refused. So slow calls of one keep the others waiting for a slot, but not behind them.
 *
 * The transports have queues of their own, but undici's has no bound, neither lets go of a call that was given up while it
 * waited, and Node's agent only counts connections that are made: a burst opens as many as it has calls.
 */
export class Slots {
  readonly #options: SlotOptions;
  readonly #waiting = new Set<WaitingCall>();
  readonly #holding: WaitingCall[] = [];

  constructor(options: SlotOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * True: the call holds a slot. False: it waits, and `onSlot` tells it.
   * @throws {ServiceError} `unavailable` where as many wait as may, and nobody has more waiting than its caller.
   */
  take(call: WaitingCall): boolean {
    const { slots, maxWaiting } = this.#options;
    if (this.#holding.length < slots) {
      this.#hold(call);
      return true;
    }
    if (this.#waiting.size >= maxWaiting) this.#makeRoomFor(call);
    this.#waiting.add(call);
    return false;
  }

  /** For a call that is given up while it waits. */
  leave(call: WaitingCall): void {
    this.#waiting.delete(call);
  }

  /** Once for each slot that was taken. */
  giveBack(call: WaitingCall): void {
    const next = this.#nextInTurn();
    const last = this.#holding.pop();
    if (last && last !== call) {
      this.#holding[call.place] = last;
      last.place = call.place;
    }
    if (!next) return;
    this.#hold(next);
    // A transport tells that a call is over before its connection is free for the next
    process.nextTick(() => next.onSlot());
  }

  #hold(call: WaitingCall): void {
    call.place = this.#holding.push(call) - 1;
  }

  /** Of those who hold the fewest slots, whose turn was longest ago. The slot that is given back counts as held. */
  #nextInTurn(): WaitingCall | undefined {
    if (this.#waiting.size === 0) return undefined;
    const held = countBy(this.#holding);
    const next = [...this.#waiting].reduce((best, call) => (compare(held, call, best) < 0 ? call : best));
    this.#waiting.delete(next);
    this.#moveToEnd(({ proxyId }) => proxyId === next.proxyId);
    this.#moveToEnd((call) => callerKey(call) === callerKey(next));
    return next;
  }

  #moveToEnd(isMoved: (call: WaitingCall) => boolean): void {
    for (const call of [...this.#waiting].filter(isMoved)) {
      this.#waiting.delete(call);
      this.#waiting.add(call);
    }
  }

  /** @throws {ServiceError} when the call itself is that which is refused. */
  #makeRoomFor(arriving: WaitingCall): void {
    this.#options.onRefused?.();
    const all = [...this.#waiting, arriving];
    const counts = countBy(all);
    // From the newest on, so that among equals it is the call that arrives
    const refused = all.reduceRight((most, call) => (compare(counts, call, most) > 0 ? call : most));
    if (refused === arriving) throw tooManyWaiting();
    this.#waiting.delete(refused);
    refused.onRefused(tooManyWaiting());
  }
}

/** How many calls each Proxy has, and each of its callers. */
function countBy(calls: readonly WaitingCall[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const call of calls) {
    for (const key of [call.proxyId, callerKey(call)]) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function compare(counts: Map<string, number>, a: WaitingCall, b: WaitingCall): number {
  const difference = (key: (call: WaitingCall) => string) => (counts.get(key(a)) ?? 0) - (counts.get(key(b)) ?? 0);
  return difference(({ proxyId }) => proxyId) || difference(callerKey);
}

function callerKey({ proxyId, callerId }: WaitingCall): string {
  return `${proxyId} ${callerId}`;
}
