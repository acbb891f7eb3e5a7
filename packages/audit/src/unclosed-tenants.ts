import { type RawBuilder, sql } from 'kysely';

/**
 * Selects open Tenants, whose closing is recorded after the rows of this transaction. A closed one gets no more rows.
 */
export function unclosedTenants(ids: readonly string[]): RawBuilder<unknown> {
  return sql`select id from tenants where id = any(${[...new Set(ids)]}::uuid[]) and closed_at is null for key share`;
}
