import { type Kysely, sql } from 'kysely';

/**
 * If a writer does not learn that the row of a disclosure was stored, it sends the row again; this index makes Postgres
 * store it once. While it is built no audit row is written, about a second for a million rows.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create unique index audit_log_id on audit_log (tenant_id, id)`.execute(db);
}
