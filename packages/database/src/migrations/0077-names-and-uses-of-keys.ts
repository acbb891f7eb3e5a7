import { type Kysely, sql } from 'kysely';

/**
 * The previous version writes none of this: its keys have no name and no last characters, and their uses are not noted. It
 * also deletes keys without knowing `key_uses`, so a foreign key deletes their rows here.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table application_keys add column name text, add column last_four text`,
  `create table key_uses (
    tenant_id uuid not null,
    application_id uuid not null,
    key_id uuid not null,
    last_used_at timestamptz(3) not null,
    primary key (tenant_id, application_id, key_id),
    foreign key (tenant_id, application_id, key_id) references application_keys (tenant_id, application_id, id)
      on delete cascade
  )`,
];
