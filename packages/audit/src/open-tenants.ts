import { type RawBuilder, sql } from 'kysely';

/**
 * Selects the `id` of the Tenants that are open, and keeps them open until the transaction ends. Deletions that come due
 * in a closed Tenant are part of its purge and write no row, so that the closing stays the last of its log.
 */
export function openTenants(ids: readonly string[]): RawBuilder<unknown> {
  return sql`select id from tenants where id = any(${[...new Set(ids)]}::uuid[]) and closed_at is null for share`;
}
