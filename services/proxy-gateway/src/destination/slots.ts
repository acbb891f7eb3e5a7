import type { ServiceError } from '@sluice/problems';
import { tooManyWaiting } from './failures.ts';

export interface SlotOptions {
  slots: number;
  maxWaiting: number;
  onRefused?: (() => void) | undefined;
}

export interface WaitingCall {
  readonly proxyId: string;
  readonly callerId: string;
  /** Its index among the calls that have a slot, maintained by the slots. */
  place: number;
  onSlot(): void;
  /** The call is refused in favour of a caller with fewer waiting calls. */
  onRefused(error: ServiceError): void;
  /** The gateway stops. */
  onClosing(): void;
}

/**
 * The connections of one Tenant to one origin, and the calls that wait for them. Several Proxies and callers of the
 * Tenant call the same origin, and one of them may call it faster than it answers. Served in order of arrival, its
 * calls would hold every slot and fill the queue, and all others would wait for them or be refused. Therefore a free
 * slot goes to the Proxy, and within it to the caller, that holds the fewest, and a full queue refuses the newest call
 * of whoever has most waiting. Invariant: while a call waits, no slot is free, and whoever holds and waits for less than
 * the others is served next and refused last. The transports' queues do not suffice: undici's has no limit, neither
 * drops aborted calls, and Node's agent opens a connection for each of a burst.
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
   * Returns false if the call has to wait for `onSlot`. @throws {ServiceError} 503 if too many wait and no caller has
   * more of them.
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

  closeAll(): void {
    for (const call of [...this.#waiting, ...this.#holding]) call.onClosing();
  }

  leave(call: WaitingCall): void {
    this.#waiting.delete(call);
  }

  giveBack(call: WaitingCall): void {
    const next = this.#nextInTurn();
    const last = this.#holding.pop();
    if (last && last !== call) {
      this.#holding[call.place] = last;
      last.place = call.place;
    }
    if (!next) return;
    this.#hold(next);
    // A transport reports the end of a call before its connection is free for the next
    process.nextTick(() => next.onSlot());
  }

  #hold(call: WaitingCall): void {
    call.place = this.#holding.push(call) - 1;
  }

  /**
   * Of those with the fewest slots, the one that was served longest ago. A slot that is being returned still counts.
   */
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

  #makeRoomFor(arriving: WaitingCall): void {
    this.#options.onRefused?.();
    const all = [...this.#waiting, arriving];
    const counts = countBy(all);
    // Newest first, so that among equals the arriving call is refused
    const refused = all.reduceRight((most, call) => (compare(counts, call, most) > 0 ? call : most));
    if (refused === arriving) throw tooManyWaiting();
    this.#waiting.delete(refused);
    refused.onRefused(tooManyWaiting());
  }
}

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
