import { type RawBuilder, sql } from 'kysely';

/**
 * A query for the `id` of those of these Tenants that are open, which they stay until the transaction ends. What time
 * itself does to a closed Tenant is part of its purge and writes no row, so that the closing stays the last of its log.
 */
export function openTenants(ids: readonly string[]): RawBuilder<unknown> {
  return sql`select id from tenants where id = any(${[...new Set(ids)]}::uuid[]) and closed_at is null for share`;
}
