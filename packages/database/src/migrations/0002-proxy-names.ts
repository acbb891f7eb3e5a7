import { type Kysely, sql } from 'kysely';

/**
 * An index for `name ilike …` with a pattern of at least three characters in a row. Postgres uses it alone or with the
 * index on the Tenant. With the Tenant in this index (btree_gin), a search among a million Proxies of one Tenant took
 * fifty times as long. No `fastupdate`, because each search would read the list of entries that are not indexed yet.
 * In a transaction it cannot be built concurrently: reads and invocations go on, writes wait 5 s for a million Proxies.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create extension if not exists pg_trgm`.execute(db);
  await sql`create index proxies_name on proxies using gin (name gin_trgm_ops) with (fastupdate = off)`.execute(db);
}
