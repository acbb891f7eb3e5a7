import { type Kysely, sql } from 'kysely';

/** The previous version purges Tenants without knowing this table, so its rows go with the Tenant's. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table reactor_runs (
    tenant_id uuid not null references tenants (id) on delete cascade,
    id uuid not null,
    reactor_id uuid not null,
    created_by uuid not null,
    caller_type text not null check (caller_type in ('application', 'session')),
    trace_id text not null,
    cdn_loop text,
    state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed', 'cancelled')),
    retryable boolean not null default false,
    timeout_ms integer not null,
    tries integer not null default 0,
    claim_id uuid,
    lease_until timestamptz(3),
    marked_at timestamptz(3),
    arguments_ciphertext bytea,
    result_ciphertext bytea,
    failure text check (failure in ('interrupted', 'overdue')),
    console_ciphertext bytea,
    created_at timestamptz(3) not null default clock_timestamp(),
    started_at timestamptz(3),
    ended_at timestamptz(3),
    primary key (tenant_id, id),
    check ((state = 'running') = (claim_id is not null and lease_until is not null)),
    check ((state in ('waiting', 'running')) = (ended_at is null and arguments_ciphertext is not null))
  )`,
  `create index reactor_runs_newest on reactor_runs (tenant_id, reactor_id, created_at desc, id desc)`,
  `create index reactor_runs_waiting on reactor_runs (tenant_id, created_at, id) where state = 'waiting'`,
  `create index reactor_runs_leases on reactor_runs (lease_until) where state = 'running'`,
  `create index reactor_runs_ended on reactor_runs (ended_at) where ended_at is not null`,
];
