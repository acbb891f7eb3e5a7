import { join } from 'node:path';
import pg from 'pg';
import { buildConsole } from '../build-console.ts';
import { migrateDatabase } from '../stack/migrations.ts';
import { startStores } from '../stores/stores.ts';
import { openStoresFolder } from './stores-folder.ts';

/** Shared with the teardown, which jest calls from another file. */
declare global {
  var storesForTests: AsyncDisposableStack | undefined;
}

/** Fast instead of durable, because nothing of a test run must survive a crash. */
const postgresSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '900',
};

const template = 'sluice_template';

/**
 * Jest's globalSetup: the console as it is now, and Postgres and Redis for one test run. Sets `TEST_DATABASE_URL` (superuser,
 * database `postgres`), `TEST_REDIS_URL`, and `TEST_STORES_FOLDER`, where tests put stores of their own. A test creates
 * its migrated database with `CREATE DATABASE x TEMPLATE sluice_template`.
 */
export default async function startStoresForTests(): Promise<void> {
  await buildConsole((line) => console.error(line));
  await using opened = new AsyncDisposableStack();
  const folder = await openStoresFolder(opened);
  const stores = opened.adopt(
    await startStores({ directory: join(folder, 'shared'), postgresSettings, log: (line) => console.error(line) }),
    (started) => started.close(),
  );
  const databaseUrl = new URL('/postgres', stores.databaseUrl).href;
  await createTemplate(databaseUrl);
  process.env.TEST_STORES_FOLDER = folder;
  process.env.TEST_DATABASE_URL = databaseUrl;
  process.env.TEST_REDIS_URL = stores.redisUrl;
  globalThis.storesForTests = opened.move();
}

/** A connection costs its client 2 ms of processor time instead of 5, and tests open thousands. */
async function cheapenPassword(client: pg.Client, databaseUrl: string): Promise<void> {
  const { username, password } = new URL(databaseUrl);
  await client.query('SET scram_iterations = 1');
  await client.query(`ALTER ROLE ${client.escapeIdentifier(username)} PASSWORD ${client.escapeLiteral(password)}`);
}

async function createTemplate(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${template}`);
    await cheapenPassword(client, databaseUrl);
  } finally {
    await client.end();
  }
  await migrateDatabase(new URL(`/${template}`, databaseUrl).href);
}
