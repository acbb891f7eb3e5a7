import { type Expression, sql } from 'kysely';
import type { Queryable } from './database.ts';

/** The size, as JSON, of the rows of a query, without reading them. */
export async function textBytesOf(db: Queryable, query: Expression<unknown>): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(octet_length(to_json(given)::text)), 0)::bigint as bytes from (${query}) as given
  `.execute(db);
  return rows[0]?.bytes ?? 0;
}
