import { type Kysely, sql } from 'kysely';

/** Frames of hosted fields name the Application and no Tenant, so it is also found by its id alone. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table applications add column allowed_origins text[]`,
  `create index applications_by_id on applications (id)`,
];
