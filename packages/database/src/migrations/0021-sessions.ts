import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table sessions (
    tenant_id uuid not null,
    id uuid not null,
    application_id uuid not null,
    key_hash bytea not null,
    nonce_hash bytea not null,
    made_from text not null,
    network text not null,
    authorized_by uuid,
    authorizing_key_id uuid,
    permissions text[] not null default '{}',
    rules jsonb not null default '[]',
    proxies uuid[],
    address text,
    created_at timestamptz(3) not null default clock_timestamp(),
    expires_at timestamptz(3) not null,
    primary key (tenant_id, id),
    foreign key (tenant_id, application_id) references applications (tenant_id, id) on delete cascade,
    foreign key (tenant_id, authorized_by, authorizing_key_id)
      references application_keys (tenant_id, application_id, id) on delete cascade,
    check ((authorized_by is null) = (authorizing_key_id is null))
  )`,
  `create unique index sessions_key_hash on sessions (key_hash)`,
  `create unique index sessions_nonce_hash on sessions (tenant_id, nonce_hash)`,
  `create index sessions_newest on sessions (tenant_id, created_at desc, id desc)`,
  `create index sessions_expiry on sessions (expires_at)`,
  `create index sessions_maker on sessions (tenant_id, application_id)`,
  `create index sessions_waiting on sessions (tenant_id, application_id, network, created_at)
    where authorized_by is null`,
  `create index sessions_authorized on sessions (tenant_id, authorized_by, authorizing_key_id)
    where authorized_by is not null`,
];
