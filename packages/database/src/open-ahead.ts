import { ping } from './connect.ts';
import type { Database } from './database.ts';

/**
 * Otherwise a service's first requests would open all connections at once, some too late on a busy machine. While
 * Postgres is away it opens none, which is no error yet.
 */
export async function openAhead(db: Database, { DATABASE_POOL_SIZE }: { DATABASE_POOL_SIZE: number }): Promise<void> {
  await Promise.allSettled(Array.from({ length: DATABASE_POOL_SIZE }, () => ping(db)));
}
