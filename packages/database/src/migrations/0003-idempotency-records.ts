import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  await sql`
    create table idempotency_records (
      tenant_id uuid not null,
      application_id uuid not null,
      request_hash bytea not null,
      body_hash bytea not null,
      claim_id uuid not null,
      locked_until timestamptz(3) not null,
      answer_ciphertext bytea,
      created_at timestamptz(3) not null default clock_timestamp(),
      primary key (tenant_id, application_id, request_hash)
    )`.execute(db);
  await sql`create index idempotency_records_age on idempotency_records (created_at)`.execute(db);
}
