import { type Kysely, sql } from 'kysely';

/** Bytes that callers patched into tokens that they do not see. The previous version leaves the counts as they are. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table tokens add column blind_data_bytes integer not null default 0`,
  `alter table tokens add column blind_metadata_bytes integer not null default 0`,
];
