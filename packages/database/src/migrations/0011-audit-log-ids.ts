import { type Kysely, sql } from 'kysely';

/**
 * A writer that did not hear that the row of a disclosure was stored sends it again; this index has it stored once. While
 * the index is built no audit row is written, about a second for a million rows.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create unique index audit_log_id on audit_log (tenant_id, id)`.execute(db);
}
