import { type Kysely, sql } from 'kysely';

/** Logged, because a crash that lost a lease would let a writer answer while its holder serves the old state. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`
    create table cache_leases (
      holder_id uuid primary key,
      service text not null,
      expires_at timestamptz not null,
      mailbox jsonb not null default '[]'
    ) with (fillfactor = 50)`.execute(db);
  await sql`
    create table changes (
      tenant_id uuid not null,
      id uuid not null,
      tags text[] not null,
      created_at timestamptz(3) not null default clock_timestamp(),
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`create index changes_age on changes (created_at)`.execute(db);
}
