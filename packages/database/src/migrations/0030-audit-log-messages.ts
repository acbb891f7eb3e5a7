import { type Kysely, sql } from 'kysely';

/** The new columns are null in existing rows and in rows of the previous version. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`alter table audit_log add column actor_type text, add column message text`.execute(db);
}
