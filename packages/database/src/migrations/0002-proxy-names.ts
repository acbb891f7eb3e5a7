import { type Kysely, sql } from 'kysely';

/**
 * For `name ilike …` with any pattern among one Tenant's Proxies. The Tenant is part of the index, so that patterns that
 * match many names elsewhere cost nothing here.
 *
 * Not built concurrently: that cannot be done in a transaction, and would wait for the snapshots of the migrations that
 * wait for this one, forever. Meanwhile Proxies are read and invoked as before, and only writes to them wait: 9 s for a
 * million. Without `fastupdate`, so that no search has to go through a list of what was not indexed yet.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const extension of ['pg_trgm', 'btree_gin']) {
    await sql`create extension if not exists ${sql.id(extension)}`.execute(db);
  }
  await sql`
    create index proxies_name on proxies using gin (tenant_id, name gin_trgm_ops) with (fastupdate = off)
  `.execute(db);
}
