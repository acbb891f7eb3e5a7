/** Work of several Tenants for a few threads. */
export interface FairQueue<T extends { tenantId: string }> {
  /** How many wait. */
  readonly size: number;
  has(item: T): boolean;
  /** A copy. */
  waiting(): T[];
  add(item: T): void;
  /**
   * Of the Tenants below their share the one with the least work under way, and of its items the one that waits
   * longest; it is under way from now. Undefined when nothing may start.
   */
  take(): T | undefined;
  /** Withdraws an item that still waits; false when it was taken before. */
  remove(item: T): boolean;
  /** Withdraws the newest item of the Tenant with the most waiting. */
  removeFromLongest(): T | undefined;
  /** An item that was taken is finished. */
  finish(item: T): void;
}

interface Lane<T> {
  waiting: { item: T; number: number }[];
  underWay: number;
}

/**
 * One Tenant's slow transforms hold at most `share` threads, and its flood fills at most its own part of the queue:
 * whoever has more waiting makes room for who has less.
 */
export function newFairQueue<T extends { tenantId: string }>(share: number): FairQueue<T> {
  const lanes = new Map<string, Lane<T>>();
  let size = 0;
  let lastNumber = 0;

  function laneOf({ tenantId }: T): Lane<T> {
    const lane = lanes.get(tenantId) ?? { waiting: [], underWay: 0 };
    lanes.set(tenantId, lane);
    return lane;
  }

  function forget(item: T, lane: Lane<T>): void {
    if (lane.underWay === 0 && lane.waiting.length === 0) lanes.delete(item.tenantId);
  }

  function withdraw(item: T): boolean {
    const lane = lanes.get(item.tenantId);
    const index = lane?.waiting.findIndex((entry) => entry.item === item) ?? -1;
    if (!lane || index === -1) return false;
    lane.waiting.splice(index, 1);
    size -= 1;
    forget(item, lane);
    return true;
  }

  return {
    get size() {
      return size;
    },
    has: (item) => lanes.get(item.tenantId)?.waiting.some((entry) => entry.item === item) ?? false,
    waiting: () => [...lanes.values()].flatMap((lane) => lane.waiting.map(({ item }) => item)),
    add: (item) => {
      lastNumber += 1;
      laneOf(item).waiting.push({ item, number: lastNumber });
      size += 1;
    },
    take: () => {
      const lane = nextLane(lanes.values(), share);
      const entry = lane?.waiting.shift();
      if (!lane || !entry) return undefined;
      size -= 1;
      lane.underWay += 1;
      return entry.item;
    },
    remove: withdraw,
    removeFromLongest: () => {
      let longest: Lane<T> | undefined;
      for (const lane of lanes.values()) if (lane.waiting.length > (longest?.waiting.length ?? 0)) longest = lane;
      const last = longest?.waiting.at(-1)?.item;
      if (last) withdraw(last);
      return last;
    },
    finish: (item) => {
      const lane = laneOf(item);
      lane.underWay -= 1;
      forget(item, lane);
    },
  };
}

function nextLane<T>(lanes: Iterable<Lane<T>>, share: number): Lane<T> | undefined {
  let best: Lane<T> | undefined;
  for (const lane of lanes) {
    if (lane.waiting.length === 0 || lane.underWay >= share) continue;
    if (!best || lane.underWay < best.underWay) best = lane;
    else if (lane.underWay === best.underWay && numberOf(lane) < numberOf(best)) best = lane;
  }
  return best;
}

const numberOf = <T>({ waiting }: Lane<T>) => waiting[0]?.number ?? 0;
