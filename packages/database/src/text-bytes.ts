import { type SelectQueryBuilder, sql } from 'kysely';
import type { Queryable } from './database.ts';

/** The size, as text, of the rows of a query, without reading them. */
export async function textBytesOf<D, T extends keyof D, O>(
  db: Queryable,
  query: SelectQueryBuilder<D, T, O>,
): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(octet_length(given::text)), 0)::bigint as bytes from (${query}) as given
  `.execute(db);
  return rows[0]?.bytes ?? 0;
}
