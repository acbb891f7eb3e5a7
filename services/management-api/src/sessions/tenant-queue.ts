/** Runs what the requests of one Tenant ask for one after another, and those of several Tenants side by side. */
export interface TenantQueue {
  run<T>(tenantId: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Work that waits for a lock holds a connection to Postgres while it waits. Through this queue a Tenant holds one of the
 * pool at most, however many of its requests wait for the same lock, and the others are there for everybody else.
 */
export function openTenantQueue(): TenantQueue {
  const last = new Map<string, Promise<unknown>>();
  return {
    run(tenantId, work) {
      const before = last.get(tenantId) ?? Promise.resolve();
      // A failure belongs to the request that failed; the next one runs all the same.
      const mine = before.then(work, work).finally(() => {
        if (last.get(tenantId) === mine) last.delete(tenantId);
      });
      last.set(tenantId, mine);
      return mine;
    },
  };
}
