import { type Kysely, sql } from 'kysely';

/** When rows came, which for those from a spool is long after they were written: how far the ledger is behind. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`
    alter table audit_log_arrivals add column arrived_at timestamptz(3) not null default statement_timestamp()
  `.execute(db);
}
