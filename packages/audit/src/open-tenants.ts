import { type RawBuilder, sql } from 'kysely';

/** Selects open Tenants and keeps them open. A closed one gets no more rows, so that its log ends with the closing. */
export function openTenants(ids: readonly string[]): RawBuilder<unknown> {
  return sql`select id from tenants where id = any(${[...new Set(ids)]}::uuid[]) and closed_at is null for share`;
}
