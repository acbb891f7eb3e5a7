import type { Database } from './database.ts';
import { wholePool } from './pools.ts';

/**
 * Otherwise the first requests would open all connections at once, some too late. Opens none while Postgres is
 * unavailable.
 */
export async function connectAhead(
  db: Database,
  { DATABASE_POOL_SIZE }: { DATABASE_POOL_SIZE: number },
): Promise<void> {
  const pool = wholePool(db);
  if (!pool) return;
  const opened = await Promise.allSettled(Array.from({ length: DATABASE_POOL_SIZE }, () => pool.connect()));
  for (const one of opened) if (one.status === 'fulfilled') one.value.release();
}
