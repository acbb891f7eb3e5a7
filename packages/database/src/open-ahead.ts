import { ping } from './connect.ts';
import type { Database } from './database.ts';

/**
 * Opens so many connections at once, for a service that is about to be ready: else its first requests open them all
 * together, and on a busy machine some of them too late. Where Postgres is away none is opened, which is no fault yet.
 */
export async function openAhead(db: Database, { DATABASE_POOL_SIZE }: { DATABASE_POOL_SIZE: number }): Promise<void> {
  await Promise.allSettled(Array.from({ length: DATABASE_POOL_SIZE }, () => ping(db)));
}
