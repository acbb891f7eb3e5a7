import { type Kysely, sql } from 'kysely';

/**
 * A Tenant's first OWNER is the user `tenants.owner_id`. A trigger makes both, because the previous version creates Tenants too
 * and knows neither. The previous version purges Tenants without knowing these tables, so their rows go with the Tenant's.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table users (
    id uuid primary key default gen_random_uuid(),
    email text,
    first_name text,
    last_name text,
    picture text,
    created_at timestamptz(3) not null default clock_timestamp(),
    modified_at timestamptz(3)
  )`,
  `create table identities (
    issuer text not null,
    subject text not null,
    user_id uuid not null references users (id) on delete cascade,
    created_at timestamptz(3) not null default clock_timestamp(),
    primary key (issuer, subject)
  )`,
  `create index identities_user on identities (user_id)`,

  `create table members (
    tenant_id uuid not null references tenants (id) on delete cascade,
    id uuid not null default gen_random_uuid(),
    user_id uuid not null references users (id),
    role text not null check (role in ('OWNER', 'ADMIN', 'DEVELOPER', 'AUDITOR')),
    source text not null default 'person' check (source in ('person', 'group')),
    keeps_role boolean not null default false,
    created_by uuid,
    created_at timestamptz(3) not null default clock_timestamp(),
    modified_by uuid,
    modified_at timestamptz(3),
    primary key (tenant_id, id),
    unique (tenant_id, user_id)
  )`,
  `create index members_user on members (user_id)`,
  `create index members_newest on members (tenant_id, created_at desc, id desc)`,
  `create table former_members (
    tenant_id uuid not null references tenants (id) on delete cascade,
    user_id uuid not null references users (id) on delete cascade,
    removed_by uuid,
    removed_at timestamptz(3) not null default clock_timestamp(),
    primary key (tenant_id, user_id)
  )`,
  `create index former_members_user on former_members (user_id)`,

  `create table invitations (
    tenant_id uuid not null references tenants (id) on delete cascade,
    id uuid not null default gen_random_uuid(),
    email text not null,
    role text not null check (role in ('OWNER', 'ADMIN', 'DEVELOPER', 'AUDITOR')),
    user_id uuid references users (id) on delete cascade,
    secret_hash bytea not null,
    expires_at timestamptz(3) not null,
    created_by uuid,
    created_at timestamptz(3) not null default clock_timestamp(),
    modified_by uuid,
    modified_at timestamptz(3),
    primary key (tenant_id, id)
  )`,
  `create unique index invitations_secret_hash on invitations (secret_hash)`,
  `create index invitations_newest on invitations (tenant_id, created_at desc, id desc)`,
  `create index invitations_expiry on invitations (expires_at)`,
  `create index invitations_user on invitations (user_id) where user_id is not null`,

  `create table sign_ins (
    tenant_id uuid not null,
    id uuid not null default gen_random_uuid(),
    secret_hash bytea not null,
    user_id uuid,
    application_id uuid,
    key_id uuid,
    created_at timestamptz(3) not null default clock_timestamp(),
    last_used_at timestamptz(3) not null default clock_timestamp(),
    expires_at timestamptz(3) not null,
    primary key (tenant_id, id),
    foreign key (tenant_id, user_id) references members (tenant_id, user_id) on delete cascade,
    foreign key (tenant_id, application_id, key_id)
      references application_keys (tenant_id, application_id, id) on delete cascade,
    check ((user_id is null) = (application_id is not null) and (application_id is null) = (key_id is null))
  )`,
  `create unique index sign_ins_secret_hash on sign_ins (secret_hash)`,
  `create index sign_ins_user on sign_ins (tenant_id, user_id, created_at desc, id desc) where user_id is not null`,
  `create index sign_ins_application on sign_ins (tenant_id, application_id, key_id) where application_id is not null`,
  `create index sign_ins_expiry on sign_ins (expires_at)`,
  `create table sign_in_links (
    tenant_id uuid not null,
    secret_hash bytea not null,
    user_id uuid not null,
    created_at timestamptz(3) not null default clock_timestamp(),
    expires_at timestamptz(3) not null,
    primary key (tenant_id, secret_hash),
    foreign key (tenant_id, user_id) references members (tenant_id, user_id) on delete cascade
  )`,
  `create unique index sign_in_links_secret_hash on sign_in_links (secret_hash)`,
  `create index sign_in_links_expiry on sign_in_links (expires_at)`,

  `create function make_first_owner() returns trigger language plpgsql as $$
  begin
    insert into users (id) values (new.owner_id) on conflict do nothing;
    insert into members (tenant_id, user_id, role, created_at) values (new.id, new.owner_id, 'OWNER', new.created_at);
    return null;
  end $$`,
  `create trigger make_first_owner after insert on tenants for each row execute function make_first_owner()`,
  `insert into users (id) select distinct owner_id from tenants where closed_at is null`,
  `insert into members (tenant_id, user_id, role, created_at)
    select id, owner_id, 'OWNER', created_at from tenants where closed_at is null`,
];
