import type { Database, Queryable } from '@sluice/database';
import { sql } from 'kysely';

/** Limited, because a query may compare all tokens of a Tenant. */
const searchTimeMs = 2000;

type Read = <T>(statement: (tx: Queryable) => Promise<T>) => Promise<T>;

/**
 * All statements that `search` sends through `read` have two seconds together, by the clock of Postgres.
 * @throws {Error} with SQLSTATE 57014 if Postgres has cancelled one.
 */
export function inSearchTime<T>(db: Database, search: (read: Read) => Promise<T>): Promise<T> {
  return db.transaction().execute((tx) =>
    search(async (statement) => {
      await sql`
        select set_config('statement_timeout',
          greatest(1, ${searchTimeMs}::int - 1000 * extract(epoch from clock_timestamp() - now()))::int::text, true)
      `.execute(tx);
      return statement(tx);
    }),
  );
}
