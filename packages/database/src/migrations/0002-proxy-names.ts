import { type Kysely, sql } from 'kysely';

/**
 * The index is without the Tenant, because with it (btree_gin) a search among a million Proxies took fifty times as
 * long. No `fastupdate`, because each search would read the list of entries that are not indexed yet. While it is
 * built, invocations go on, and writes wait 5 s for a million Proxies.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create extension if not exists pg_trgm`.execute(db);
  await sql`create index proxies_name on proxies using gin (name gin_trgm_ops) with (fastupdate = off)`.execute(db);
}
