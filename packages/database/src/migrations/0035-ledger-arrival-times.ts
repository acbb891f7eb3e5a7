import { type Kysely, sql } from 'kysely';

/** Arrival times show how far the ledger is behind. Rows from a spool arrive long after they were written. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`
    alter table audit_log_arrivals add column arrived_at timestamptz(3) not null default statement_timestamp()
  `.execute(db);
}
