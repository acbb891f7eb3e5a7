import { type Kysely, sql } from 'kysely';

/**
 * The previous version reads and writes one key, `applications.key_hash`. While both serve, a trigger turns its writes
 * into rows, and the new version keeps in the column a key that does not expire, or null, so that the previous version
 * accepts no key that is gone. A later migration removes both. The foreign key is checked at commit, because a key is
 * inserted before its Application.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // Existing rows keep the first default: their key is version 1.
  `alter table applications alter column key_hash drop not null, add column last_key_version integer not null default 1`,
  `alter table applications alter column last_key_version set default 0`,
  `create table application_keys (
    tenant_id uuid not null,
    application_id uuid not null,
    id uuid not null default gen_random_uuid(),
    version integer not null,
    key_hash bytea not null,
    expires_at timestamptz(3),
    created_by uuid,
    created_at timestamptz(3) not null default clock_timestamp(),
    primary key (tenant_id, application_id, id),
    foreign key (tenant_id, application_id) references applications (tenant_id, id)
      on delete cascade deferrable initially deferred
  )`,
  `insert into application_keys (tenant_id, application_id, version, key_hash, created_by, created_at)
    select tenant_id, id, 1, key_hash, created_by, created_at from applications`,
  `create unique index application_keys_key_hash on application_keys (key_hash)`,
  `create index application_keys_expiry on application_keys (expires_at) where expires_at is not null`,

  `create function keep_application_keys() returns trigger language plpgsql as $$
  begin
    if new.key_hash is null or exists (
      select from application_keys where application_keys.key_hash = new.key_hash
    ) then
      return new;
    end if;
    delete from application_keys where tenant_id = new.tenant_id and application_id = new.id;
    new.last_key_version := new.last_key_version + 1;
    insert into application_keys (tenant_id, application_id, version, key_hash, created_by)
      values (new.tenant_id, new.id, new.last_key_version, new.key_hash, coalesce(new.modified_by, new.created_by));
    return new;
  end $$`,
  `create trigger keep_application_keys before insert or update of key_hash on applications
    for each row execute function keep_application_keys()`,
];
