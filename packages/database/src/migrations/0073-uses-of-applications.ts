import { type Kysely, sql } from 'kysely';

/**
 * Which reactors use an Application, and which Application a Proxy named before that was deleted. The previous version does not
 * write the column: a Proxy that it changes keeps what stood there, or names none.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table proxies add column named_application_id uuid`,
  `update proxies set named_application_id = application_id where application_id is not null`,
  `create index reactors_application on reactors (tenant_id, application_id) where application_id is not null`,
];
