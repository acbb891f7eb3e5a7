import { type Kysely, sql } from 'kysely';

/**
 * For `name ilike …` with any pattern of three characters in a row or more. What matches in other Tenants is sorted out
 * by the index on the Tenant, where there is much of it: Postgres combines the two, or takes the Tenant's alone. The
 * Tenant as a column of this one (btree_gin) made a search among a million Proxies of one Tenant fifty times as slow.
 *
 * Not built concurrently: that cannot be done in a transaction, and would wait for the snapshot of a migration that
 * waits for this one: a deadlock. While it is built Proxies are read and invoked as before, and only writes to them
 * wait: 5 s for a million. Without `fastupdate`, so that no search has to read a list of what was not indexed yet.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create extension if not exists pg_trgm`.execute(db);
  await sql`create index proxies_name on proxies using gin (name gin_trgm_ops) with (fastupdate = off)`.execute(db);
}
