import { type Kysely, sql } from 'kysely';

/**
 * An index for `name ilike …` with a pattern of at least three characters in a row. Postgres combines it with the index on
 * the Tenant, or uses it alone, so matches of other Tenants cost little. With the Tenant in this index (btree_gin), a
 * search among a million Proxies of one Tenant took fifty times as long.
 * It is not built concurrently, because that is impossible in a transaction and would deadlock with another migration that
 * waits for this one. Meanwhile reads and invocations go on; writes to Proxies wait, 5 s for a million. It has no
 * `fastupdate`, because each search would have to read the list of entries that are not indexed yet.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create extension if not exists pg_trgm`.execute(db);
  await sql`create index proxies_name on proxies using gin (name gin_trgm_ops) with (fastupdate = off)`.execute(db);
}
