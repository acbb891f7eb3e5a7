import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';
import { eventually } from './eventually.ts';

export async function untilLockIsAwaited(db: Queryable): Promise<void> {
  await eventually('a statement waits for a lock', async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `.execute(db);
    return rows.length > 0;
  });
}
