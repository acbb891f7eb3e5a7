export interface ExportTurns {
  run<T>(tenantId: string, read: () => Promise<T>): Promise<T>;
}

/** Tenants take turns, so that one with many exports does not hold up another. `connections` reads run at a time. */
export function openExportTurns(connections: number): ExportTurns {
  const waiting = new Map<string, (() => void)[]>();
  let running = 0;

  function beginNext(): void {
    const [next] = waiting;
    if (!next || running >= connections) return;
    const [tenantId, [begin, ...rest]] = next;
    waiting.delete(tenantId);
    if (rest.length > 0) waiting.set(tenantId, rest);
    running += 1;
    begin?.();
  }

  return {
    async run(tenantId, read) {
      await new Promise<void>((begin) => {
        waiting.set(tenantId, [...(waiting.get(tenantId) ?? []), begin]);
        beginNext();
      });
      try {
        return await read();
      } finally {
        running -= 1;
        beginNext();
      }
    },
  };
}

/** By default two, as many as one export can use. */
export function connectionsForExports({ DATABASE_POOL_SIZE }: { DATABASE_POOL_SIZE: number }): number {
  return Math.max(1, Math.floor(DATABASE_POOL_SIZE / 4));
}
