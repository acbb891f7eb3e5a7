/** Waiting work of several Tenants. */
export interface FairQueue<T extends { tenantId: string }> {
  readonly size: number;
  add(item: T): void;
  /** Of the Tenant with the least work under way, the item that waits longest; it is under way from now. */
  take(): T | undefined;
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
    finish: (item) => {
      const left = loadOf(item) - 1;
      if (left > 0) underWay.set(item.tenantId, left);
      else underWay.delete(item.tenantId);
    },
  };
}
