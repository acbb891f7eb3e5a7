import { sql } from 'kysely';
import type { Database, Queryable } from './database.ts';

/**
 * Postgres reads rows through indexes and in their order, up to the limit, whatever it believes about their number. A
 * table that fills faster than its statistics are taken would otherwise be read and sorted whole for a few rows. Holds
 * to the end of the transaction, which is begun if there is none. For statements whose order an index has.
 */
export function throughIndexes<T>(db: Database | Queryable, read: (tx: Queryable) => Promise<T>): Promise<T> {
  const readSo = async (tx: Queryable) => {
    await sql`
      select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
        set_config('enable_sort', 'off', true)
    `.execute(tx);
    return read(tx);
  };
  return db.isTransaction ? readSo(db) : db.transaction().execute(readSo);
}
