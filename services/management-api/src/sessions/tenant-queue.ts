import { endedEarly, ServiceError } from '@sluice/problems';

interface Turn {
  tenantId: string;
  /** Who asks: lanes of a Tenant take turns, so that a flood delays only its own lane. */
  lane: string;
  whenLeft: (act: () => void) => void;
}

export interface TenantQueue {
  /** @throws {ServiceError} 429 where too many wait and this lane has most of them. */
  run<T>(turn: Turn, work: () => Promise<T>): Promise<T>;
}

interface Waiter {
  begin(): void;
  refuse(error: ServiceError): void;
}

/** No lane is empty. The next turn is that of the first. */
type Lanes = Map<string, Waiter[]>;

/** Work that waits for a lock holds a connection to Postgres. This queue lets a Tenant hold at most one. */
export function openTenantQueue(mostWaiting: number): TenantQueue {
  /** Has a Tenant as long as work of it is done. */
  const tenants = new Map<string, Lanes>();

  function waitForTurn(lanes: Lanes, { lane, whenLeft }: Turn): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { begin: resolve, refuse: reject };
    lanes.set(lane, [...(lanes.get(lane) ?? []), waiter]);
    if (countWaiting(lanes) > mostWaiting) refuseLastOfLongest(lanes);
    whenLeft(() => {
      if (remove(lanes, lane, waiter)) reject(endedEarly());
    });
    return promise;
  }

  function beginNext(tenantId: string, lanes: Lanes): void {
    const [first] = lanes;
    if (!first) {
      tenants.delete(tenantId);
      return;
    }
    const [lane, [waiter, ...others]] = first;
    lanes.delete(lane);
    if (others.length > 0) lanes.set(lane, others);
    waiter?.begin();
  }

  return {
    async run(turn, work) {
      const { tenantId } = turn;
      const busy = tenants.get(tenantId);
      const lanes: Lanes = busy ?? new Map();
      if (busy) await waitForTurn(lanes, turn);
      else tenants.set(tenantId, lanes);
      try {
        return await work();
      } finally {
        beginNext(tenantId, lanes);
      }
    },
  };
}

function countWaiting(lanes: Lanes): number {
  return [...lanes.values()].flat().length;
}

function refuseLastOfLongest(lanes: Lanes): void {
  const [[lane, waiters] = []] = [...lanes].sort(([, a], [, b]) => b.length - a.length);
  const last = waiters?.at(-1);
  if (lane === undefined || !last) return;
  remove(lanes, lane, last);
  const detail = 'Too many requests to make or authorize sessions of this Tenant wait; try again later';
  last.refuse(new ServiceError('too_many_requests', detail, { retryAfterSeconds: 1, limit: 'session_requests' }));
}

/** @returns whether it waited. */
function remove(lanes: Lanes, lane: string, waiter: Waiter): boolean {
  const waiters = lanes.get(lane) ?? [];
  const others = waiters.filter((other) => other !== waiter);
  if (others.length > 0) lanes.set(lane, others);
  else lanes.delete(lane);
  return others.length < waiters.length;
}
