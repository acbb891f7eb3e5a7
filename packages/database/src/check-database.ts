import { sql } from 'kysely';
import { checkPooler } from './check-pooler.ts';
import type { Database } from './database.ts';
import { migrationNames } from './migrate.ts';
import { clientOptions } from './pools.ts';

const undefinedTable = '42P01';
/** PgBouncer's code for an unknown parameter of the connection. */
const protocolViolation = '08P01';

/** Checked only once, because a pooler does not change while a process runs. */
const withoutPoolerFaults = new WeakSet<Database>();

/** @throws {Error} saying what to do if Postgres is unavailable, a migration is missing, or named statements do not work. */
export async function checkDatabase(db: Database): Promise<void> {
  const missing = await findMissing(db);
  if (missing.length > 0) {
    throw new Error(`the database is not migrated (${missing.join(', ')}); run npm run migrate`);
  }
  if (withoutPoolerFaults.has(db)) return;
  await checkPooler(clientOptions(db));
  withoutPoolerFaults.add(db);
}

async function findMissing(db: Database): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
    const applied = new Set(rows.map(({ name }) => name));
    return migrationNames.filter((name) => !applied.has(name));
  } catch (error) {
    if (codeOf(error) === undefinedTable) return [...migrationNames];
    if (codeOf(error) === protocolViolation) throw refusedByPooler(error);
    throw new Error(`${reasonOf(error)}: is Postgres running, and is DATABASE_URL right?`, { cause: error });
  }
}

function refusedByPooler(cause: unknown): Error {
  const parameters = 'statement_timeout,idle_in_transaction_session_timeout';
  return new Error(`the pooler before Postgres refuses connections: set ignore_startup_parameters = ${parameters}`, {
    cause,
  });
}

function codeOf(error: unknown): string | undefined {
  return memberOf(error, 'code');
}

/** The code if there is one, because messages name addresses and users. */
function reasonOf(error: unknown): string {
  return codeOf(error) ?? memberOf(error, 'message') ?? 'no answer';
}

function memberOf(error: unknown, name: 'code' | 'message'): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
