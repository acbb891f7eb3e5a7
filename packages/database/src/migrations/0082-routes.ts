import { type Kysely, sql } from 'kysely';

/**
 * The previous version writes none of this, and what it changes keeps it. It would ignore `proxies` and `allowed_…` in an
 * invocation, so the management API sets them only while no process of that version has a lease. Reads and writes of
 * Proxies wait while their index is built, which takes a moment for 100,000 of them.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table applications add column proxies uuid[]`,
  `alter table proxies
    add column path_name text,
    add column accept_key_as text[],
    add column allowed_methods text[],
    add column allowed_paths text[]`,
  `create unique index proxies_path_name on proxies (tenant_id, path_name) where path_name is not null`,
];
