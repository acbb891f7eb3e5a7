import { ping } from './connect.ts';
import type { Database } from './database.ts';

/** Without it the first requests open all connections at once, some too late. While Postgres is away it opens none. */
export async function openAhead(db: Database, { DATABASE_POOL_SIZE }: { DATABASE_POOL_SIZE: number }): Promise<void> {
  await Promise.allSettled(Array.from({ length: DATABASE_POOL_SIZE }, () => ping(db)));
}
