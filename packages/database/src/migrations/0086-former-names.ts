import { type Kysely, sql } from 'kysely';

/**
 * Keeps the former names of things, by which the audit log shows them after they are renamed or deleted. Triggers write
 * them, because then no writer can forget one: not the previous version, not the worker, and not a foreign key that
 * deletes the keys of an Application. A closed Tenant gets no former names, because nobody can list its log any more; those
 * that it has go with the Tenant. People who were removed before
 * have no name here: a Tenant that they left must not learn the address that they have now.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const table = `create table former_names (
  tenant_id uuid not null references tenants (id) on delete cascade,
  kind text not null check
    (kind in ('application', 'application_key', 'proxy', 'reactor', 'reactor_formula', 'member', 'user')),
  id uuid not null,
  name text not null,
  until timestamptz(3) not null,
  primary key (tenant_id, kind, id, until)
)`;

/** With the rights of the migrating role, so that a role that may change things needs no right to add former names. */
const asMigrator = `language plpgsql security definer set search_path from current as`;

const keepName = `create function keep_former_name() returns trigger ${asMigrator} $$
begin
  insert into former_names (tenant_id, kind, id, name, until)
  select old.tenant_id, tg_argv[0], old.id, old.name, clock_timestamp()
  from tenants where tenants.id = old.tenant_id and closed_at is null
  on conflict do nothing;
  return null;
end $$`;

const named = {
  applications: 'application',
  application_keys: 'application_key',
  proxies: 'proxy',
  reactors: 'reactor',
  reactor_formulas: 'reactor_formula',
};

const triggersOf = ([things, kind]: [string, string]) => [
  `create trigger keep_name_before_change after update of name on ${things}
    for each row when (old.name <> new.name) execute function keep_former_name('${kind}')`,
  `create trigger keep_name_before_deletion after delete on ${things}
    for each row when (old.name is not null) execute function keep_former_name('${kind}')`,
];

/** Rows of the log name a person by the id of the user or of the membership. */
const people = [
  `create function keep_email_of_member() returns trigger ${asMigrator} $$
  begin
    insert into former_names (tenant_id, kind, id, name, until)
    select old.tenant_id, known.kind, known.id, users.email, clock_timestamp()
    from users, tenants, (values ('member', old.id), ('user', old.user_id)) as known (kind, id)
    where users.id = old.user_id and email is not null and tenants.id = old.tenant_id and closed_at is null
    on conflict do nothing;
    return null;
  end $$`,
  `create trigger keep_email_before_deletion after delete on members
    for each row execute function keep_email_of_member()`,

  `create function keep_email_of_user() returns trigger ${asMigrator} $$
  begin
    insert into former_names (tenant_id, kind, id, name, until)
    select members.tenant_id, known.kind, known.id, old.email, clock_timestamp()
    from members join tenants on tenants.id = members.tenant_id and closed_at is null
    cross join lateral (values ('member', members.id), ('user', members.user_id)) as known (kind, id)
    where members.user_id = old.id order by members.tenant_id
    on conflict do nothing;
    return null;
  end $$`,
  `create trigger keep_email_before_change after update of email on users
    for each row when (old.email is distinct from new.email and old.email is not null)
    execute function keep_email_of_user()`,
];

const statements = [
  table,
  `create index former_names_until on former_names (until)`,
  keepName,
  ...Object.entries(named).flatMap(triggersOf),
  ...people,
];
