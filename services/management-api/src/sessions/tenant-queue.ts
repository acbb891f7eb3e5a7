export interface TenantQueue {
  run<T>(tenantId: string, work: () => Promise<T>): Promise<T>;
}

/** Work that waits for a lock holds a connection to Postgres. This queue lets a Tenant hold at most one. */
export function openTenantQueue(): TenantQueue {
  const last = new Map<string, Promise<unknown>>();
  return {
    run(tenantId, work) {
      const before = last.get(tenantId) ?? Promise.resolve();
      // A failure belongs to its own request; the next one runs regardless
      const mine = before.then(work, work).finally(() => {
        if (last.get(tenantId) === mine) last.delete(tenantId);
      });
      last.set(tenantId, mine);
      return mine;
    },
  };
}
