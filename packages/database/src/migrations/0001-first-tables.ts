import { type Kysely, sql } from 'kysely';

/** Small tables are looked up by other columns than the Tenant (key hashes). Tables that grow lead with tenant_id. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const authorship = `
  created_by uuid,
  created_at timestamptz(3) not null default clock_timestamp(),
  modified_by uuid,
  modified_at timestamptz(3)`;

const statements = [
  `create table tenants (
    id uuid primary key,
    owner_id uuid not null,
    name text not null,
    fingerprint_tokens boolean not null default true,
    deduplicate_tokens boolean not null default false,
    included_monthly_active_tokens bigint not null default 0,
    closed_at timestamptz(3),${authorship}
  )`,
  `create index tenants_closed on tenants (closed_at) where closed_at is not null`,

  `create table applications (
    tenant_id uuid not null,
    id uuid not null,
    name text not null,
    type text not null check (type in ('private', 'public', 'management')),
    permissions text[] not null,
    rules jsonb not null,
    key_hash bytea not null,
    expires_at timestamptz(3),${authorship},
    primary key (tenant_id, id)
  )`,
  `create unique index applications_key_hash on applications (key_hash)`,
  `create index applications_newest on applications (tenant_id, created_at desc, id desc)`,
  `create index applications_expiry on applications (expires_at, tenant_id) where expires_at is not null`,

  `create table proxies (
    tenant_id uuid not null,
    id uuid not null,
    name text not null,
    key_hash bytea not null,
    key_ciphertext bytea not null,
    destination_url text not null,
    request_transform text,
    response_transform text,
    application_id uuid,
    configuration_ciphertext bytea,
    require_auth boolean not null default true,${authorship},
    primary key (tenant_id, id)
  )`,
  `create unique index proxies_key_hash on proxies (key_hash)`,
  `create index proxies_newest on proxies (tenant_id, created_at desc, id desc)`,
  `create index proxies_application on proxies (tenant_id, application_id) where application_id is not null`,

  `create table data_keys (
    tenant_id uuid not null,
    purpose text not null,
    version integer not null,
    wrapped_key bytea not null,
    root_key_id text not null,
    use_count bigint not null default 0,
    created_at timestamptz(3) not null default clock_timestamp(),
    primary key (tenant_id, purpose, version)
  )`,

  `create table tokens (
    tenant_id uuid not null,
    id text not null,
    type text not null,
    data_ciphertext bytea not null,
    mask jsonb,
    containers text[] not null,
    metadata jsonb not null default '{}',
    search_indexes text[] not null default '{}',
    fingerprint text,
    fingerprint_expression text,
    expires_at timestamptz(3),
    active_month date not null,${authorship},
    primary key (tenant_id, id)
  )`,
  `create index tokens_newest on tokens (tenant_id, created_at desc, id desc)`,
  `create index tokens_fingerprint on tokens (tenant_id, type, fingerprint) where fingerprint is not null`,
  `create index tokens_expiry on tokens (expires_at) where expires_at is not null`,

  `create table counters (
    tenant_id uuid not null,
    counter text not null,
    slot smallint not null,
    value bigint not null,
    last_at timestamptz(3),
    primary key (tenant_id, counter, slot)
  ) with (fillfactor = 50)`,

  `create table audit_log (
    tenant_id uuid not null,
    id uuid not null default gen_random_uuid(),
    at timestamptz(3) not null default clock_timestamp(),
    actor_id uuid,
    operation text not null,
    entity_type text not null,
    entity_id text not null,
    trace_id text,
    detail jsonb
  )`,
  `create index audit_log_newest on audit_log (tenant_id, at desc)`,
];
