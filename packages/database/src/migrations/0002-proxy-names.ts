import { type Kysely, sql } from 'kysely';

/**
 * An index for `name ilike …` with a pattern of at least three characters in a row. Postgres combines it with the index on
 * the Tenant, or uses that one alone, so matches of other Tenants cost little. With the Tenant as a column of this index
 * (btree_gin), a search among a million Proxies of one Tenant took fifty times as long.
 *
 * It is not built concurrently, because that is impossible in a transaction and would deadlock with another migration that
 * waits for this one. While it is built, Proxies are read and invoked as before; writes to them wait, 5 s for a million.
 * It has no `fastupdate`, so that no search has to read a list of entries that are not indexed yet.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create extension if not exists pg_trgm`.execute(db);
  await sql`create index proxies_name on proxies using gin (name gin_trgm_ops) with (fastupdate = off)`.execute(db);
}
