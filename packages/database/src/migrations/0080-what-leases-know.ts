import { type Kysely, sql } from 'kysely';

/** Null in leases of the previous version, which does not write it. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`alter table cache_leases add column knows text`.execute(db);
}
