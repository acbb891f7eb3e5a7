/** Waiting work of several Tenants. */
export interface FairQueue<T extends { tenantId: string }> {
  readonly size: number;
  has(item: T): boolean;
  /** A copy. */
  waiting(): T[];
  add(item: T): void;
  /** Of the Tenant with the least work under way, the item that waits longest; it is under way from now. */
  take(): T | undefined;
  /** Withdraws an item that still waits; false when it was taken before. */
  remove(item: T): boolean;
  /** An item that was taken is finished. */
  finish(item: T): void;
}

/** So that one Tenant's slow transforms make another's wait for one of them at most. */
export function newFairQueue<T extends { tenantId: string }>(): FairQueue<T> {
  const waiting: T[] = [];
  const underWay = new Map<string, number>();
  const loadOf = ({ tenantId }: T) => underWay.get(tenantId) ?? 0;
  return {
    get size() {
      return waiting.length;
    },
    has: (item) => waiting.includes(item),
    waiting: () => [...waiting],
    add: (item) => void waiting.push(item),
    take: () => {
      if (waiting.length === 0) return undefined;
      const best = waiting.reduce(
        (least, item, index) => (loadOf(item) < loadOf(waiting[least] ?? item) ? index : least),
        0,
      );
      const [item] = waiting.splice(best, 1);
      if (item) underWay.set(item.tenantId, loadOf(item) + 1);
      return item;
    },
    remove: (item) => {
      const index = waiting.indexOf(item);
      if (index !== -1) waiting.splice(index, 1);
      return index !== -1;
    },
    finish: (item) => {
      const left = loadOf(item) - 1;
      if (left > 0) underWay.set(item.tenantId, left);
      else underWay.delete(item.tenantId);
    },
  };
}
