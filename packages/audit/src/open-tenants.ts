import { type RawBuilder, sql } from 'kysely';

/**
 * Selects the `id` of the open Tenants, and keeps them open until the transaction ends. What comes due in a closed
 * Tenant is part of its purge and writes no row, so that its log ends with the closing.
 */
export function openTenants(ids: readonly string[]): RawBuilder<unknown> {
  return sql`select id from tenants where id = any(${[...new Set(ids)]}::uuid[]) and closed_at is null for share`;
}
