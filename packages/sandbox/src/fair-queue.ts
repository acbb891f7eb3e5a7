/** Something that waits for a thread. */
export interface QueueItem {
  readonly tenantId: string;
  /** Asked when its turn may come: whether it may hold a thread for long, as far as is known. */
  isDoubtful(): boolean;
}

/** Threads that may be held at a time. */
export interface Shares {
  /** By one Tenant. */
  tenant: number;
  /** By doubtful items of one Tenant. */
  doubtfulOfTenant: number;
  /** By the doubtful items of all Tenants. */
  doubtful: number;
  /** They start only when nothing else may. */
  doubtfulLast?: boolean;
}

/** Work of several Tenants for a few threads. */
export interface FairQueue<T extends QueueItem> {
  /** How many wait. */
  readonly size: number;
  has(item: T): boolean;
  /** A copy. */
  waiting(): T[];
  add(item: T): void;
  /**
   * Of the Tenants below their share the one with the least work under way, among equals the one that was served
   * longest ago, and of its items that may start the one that waits longest; it is under way from now. Undefined when
   * nothing may start.
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
  doubtfulUnderWay: number;
  /** 0: it was not served since it last had nothing to do. */
  servedAt: number;
}

/**
 * One Tenant's slow transforms hold no more threads than its share, all Tenants' slow transforms together leave one to
 * those that are known to be quick, and a flood fills at most its own part of the queue: whoever has more waiting makes
 * room for who has less.
 */
export function newFairQueue<T extends QueueItem>(sharesNow: () => Shares): FairQueue<T> {
  const lanes = new Map<string, Lane<T>>();
  const doubtfulUnderWay = new Set<T>();
  let size = 0;
  let lastNumber = 0;
  let lastServed = 0;

  function laneOf({ tenantId }: T): Lane<T> {
    const lane = lanes.get(tenantId) ?? { waiting: [], underWay: 0, doubtfulUnderWay: 0, servedAt: 0 };
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

  /** The place in its lane of the item that may start; -1 when none may. */
  function findNext(lane: Lane<T>, shares: Shares, mayBeDoubtful: boolean): number {
    if (lane.underWay >= shares.tenant) return -1;
    const admitsDoubtful =
      mayBeDoubtful && lane.doubtfulUnderWay < shares.doubtfulOfTenant && doubtfulUnderWay.size < shares.doubtful;
    return admitsDoubtful ? 0 : lane.waiting.findIndex(({ item }) => !item.isDoubtful());
  }

  function nextLane(): { lane: Lane<T>; index: number } | undefined {
    const shares = sharesNow();
    const waiting = [...lanes.values()].filter((lane) => lane.waiting.length > 0).sort(byTurn);
    for (const mayBeDoubtful of shares.doubtfulLast ? [false, true] : [true]) {
      for (const lane of waiting) {
        const index = findNext(lane, shares, mayBeDoubtful);
        if (index !== -1) return { lane, index };
      }
    }
    return undefined;
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
      const next = size > 0 ? nextLane() : undefined;
      const [entry] = next?.lane.waiting.splice(next.index, 1) ?? [];
      if (!next || !entry) return undefined;
      const { lane } = next;
      const { item } = entry;
      size -= 1;
      lastServed += 1;
      lane.servedAt = lastServed;
      lane.underWay += 1;
      if (item.isDoubtful()) {
        lane.doubtfulUnderWay += 1;
        doubtfulUnderWay.add(item);
      }
      return item;
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
      if (doubtfulUnderWay.delete(item)) lane.doubtfulUnderWay -= 1;
      forget(item, lane);
    },
  };
}

function byTurn<T>(a: Lane<T>, b: Lane<T>): number {
  return a.underWay - b.underWay || a.servedAt - b.servedAt || numberOf(a) - numberOf(b);
}

const numberOf = <T>({ waiting }: Lane<T>) => waiting[0]?.number ?? 0;
