import { randomUUID } from 'node:crypto';
import { connectDatabase, type Database } from '@sluice/database';
import { connectPostgres } from './connect-postgres.ts';

export interface TestDatabase {
  db: Database;
  url: string;
}

const migrated = 'sluice_template';

/** A database of the test file's own on the real Postgres, with all migrations. Dropped with the stack. */
export function openTestDatabase(stack: AsyncDisposableStack): Promise<TestDatabase> {
  return openCopy(stack, migrated);
}

export function openEmptyDatabase(stack: AsyncDisposableStack): Promise<TestDatabase> {
  return openCopy(stack, 'template1');
}

/** Makes a database of which `openCopy` then makes others, once for all processes of a test run. */
export async function makeTemplate(name: string, fill: (url: string) => Promise<void>): Promise<void> {
  const server = requireSetting('TEST_DATABASE_URL');
  await using client = await connectPostgres(server);
  await client.query('select pg_advisory_lock(2)');
  const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
  if (rowCount === 1) return;
  const unfinished = `${name}_unfinished`;
  await onServer(server, `create database ${unfinished} template ${migrated}`);
  await fill(new URL(`/${unfinished}`, server).href);
  await client.query(`alter database ${unfinished} rename to ${name}`);
}

/** A copy of a database, of the test file's own. Dropped with the stack. */
export async function openCopy(stack: AsyncDisposableStack, template: string): Promise<TestDatabase> {
  const server = requireSetting('TEST_DATABASE_URL');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  // Copying files takes a quarter of the time that Postgres takes to write each block to its log, which is the default.
  await onServer(server, `create database ${name} template ${template} strategy file_copy`);
  stack.defer(() => onServer(server, `drop database ${name} with (force)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  const db = connectDatabase(
    { DATABASE_URL: url.href, DATABASE_POOL_SIZE: 10, DATABASE_WAIT_MS: 20_000 },
    { stack, onError: (error) => console.error(error) },
  );
  return { db, url: url.href };
}

/** One statement at a time: Postgres refuses to copy a template that another session is copying. */
async function onServer(server: string, statement: string): Promise<void> {
  await using client = await connectPostgres(server);
  await client.query('select pg_advisory_lock(1)');
  await client.query(statement);
}

export function requireSetting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests with "npm test" or "npm run jest"`);
  return value;
}
