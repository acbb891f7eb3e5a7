import { type Kysely, sql } from 'kysely';

/**
 * Lists in the order of their names. The indexes also have the columns that decide which rows a page skips, so that those rows are
 * not read. Names have at most 200 characters, 800 bytes, so that a name fits
 * into an entry twice. Writes to a table wait while its indexes are built, some seconds for a million rows.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const byName = (table: string, included: string) =>
  `create index ${table}_by_name on ${table} (tenant_id, lower(name) collate "C", id) include (${included})`;

const statements = [
  byName('applications', 'name, expires_at'),
  byName('proxies', 'name'),
  byName('reactors', 'name'),
  byName('reactor_formulas', 'name'),
];
