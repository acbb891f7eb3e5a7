import { type Kysely, sql } from 'kysely';

/**
 * The previous version writes neither, and a token that it changes keeps both. It would reveal a token whatever its `use`
 * says, so the vault sets `use` only while no process of that version has a lease.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`alter table tokens add column use jsonb, add column uses integer not null default 0`.execute(db);
}
