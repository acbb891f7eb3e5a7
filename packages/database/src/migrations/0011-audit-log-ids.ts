import { type Kysely, sql } from 'kysely';

/**
 * The row of a disclosure may be sent twice, where its writer did not hear that it was stored; it is stored once. While
 * the index is made no audit row is written: about a second for a million.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create unique index audit_log_id on audit_log (tenant_id, id)`.execute(db);
}
