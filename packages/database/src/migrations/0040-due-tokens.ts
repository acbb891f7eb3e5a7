import { type Kysely, sql } from 'kysely';

/** The indexes begin with the Tenant, as sweeps do. While they are made no token is written: a second for a million. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const noted = (kind: string, column: string) => `
  insert into due_tokens (tenant_id, kind, due_at)
  select distinct tenant_id, '${kind}', date_trunc('minute', ${column}) from tokens where ${column} is not null`;

const statements = [
  `create table due_tokens (
    tenant_id uuid not null,
    kind text not null,
    due_at timestamptz(3) not null,
    primary key (tenant_id, kind, due_at)
  )`,
  `create index due_tokens_age on due_tokens (kind, due_at, tenant_id)`,
  noted('expiry', 'expires_at'),
  noted('cvc', 'cvc_due_at'),
  `create index tokens_due on tokens (tenant_id, expires_at) where expires_at is not null`,
  `drop index tokens_expiry`,
  `create index tokens_due_cvc on tokens (tenant_id, cvc_due_at) where cvc_due_at is not null`,
  `drop index tokens_cvc_due`,
  `create index idempotency_records_old on idempotency_records (tenant_id, created_at)`,
  `drop index idempotency_records_age`,
];
