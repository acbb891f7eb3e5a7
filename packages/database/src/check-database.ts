import { sql } from 'kysely';
import type { Database } from './database.ts';
import { migrationNames } from './migrate.ts';

/** Postgres's code for a table that is not there. */
const undefinedTable = '42P01';

/**
 * Resolves when Postgres answers and every migration of this version has been applied; those of a later one may be too.
 * @throws {Error} whose message says what to do.
 */
export async function checkDatabase(db: Database): Promise<void> {
  const missing = await findMissing(db);
  if (missing.length > 0) {
    throw new Error(`the database is not migrated (${missing.join(', ')}); run npm run migrate`);
  }
}

async function findMissing(db: Database): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
    const applied = new Set(rows.map(({ name }) => name));
    return migrationNames.filter((name) => !applied.has(name));
  } catch (error) {
    if (codeOf(error) === undefinedTable) return [...migrationNames];
    throw new Error(`${reasonOf(error)}: is Postgres running, and is DATABASE_URL right?`, { cause: error });
  }
}

/** Postgres's own, or one of sockets. */
function codeOf(error: unknown): string | undefined {
  return memberOf(error, 'code');
}

/** A code where there is one: messages name addresses and users. */
function reasonOf(error: unknown): string {
  return codeOf(error) ?? memberOf(error, 'message') ?? 'no answer';
}

function memberOf(error: unknown, name: 'code' | 'message'): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
