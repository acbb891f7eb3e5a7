/** Runs the work of one Tenant in order, and that of different Tenants concurrently. */
export interface TenantQueue {
  run<T>(tenantId: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Work that waits for a lock holds a connection to Postgres. With this queue a Tenant holds at most one, however many of
 * its requests wait for the same lock.
 */
export function openTenantQueue(): TenantQueue {
  const last = new Map<string, Promise<unknown>>();
  return {
    run(tenantId, work) {
      const before = last.get(tenantId) ?? Promise.resolve();
      // A failure belongs to its own request; the next one runs regardless.
      const mine = before.then(work, work).finally(() => {
        if (last.get(tenantId) === mine) last.delete(tenantId);
      });
      last.set(tenantId, mine);
      return mine;
    },
  };
}
