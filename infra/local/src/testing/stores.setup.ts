import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { buildConsole } from '../build-console.ts';
import { migrateDatabase } from '../stack/migrations.ts';
import { startStores } from '../stores/stores.ts';

/** Shared with the teardown, which jest calls from another file. */
declare global {
  var storesForTests: AsyncDisposableStack | undefined;
}

/** Fast instead of durable, because nothing of a test run must survive a crash. */
const postgresSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
};

const template = 'sluice_template';

/**
 * Jest's globalSetup: the console as it is now, and Postgres and Redis for one test run, in a folder of their own. Sets `TEST_DATABASE_URL`
 * (superuser, database `postgres`) and `TEST_REDIS_URL`. A test creates its migrated database with `CREATE DATABASE x
 * TEMPLATE sluice_template`.
 */
export default async function startStoresForTests(): Promise<void> {
  await buildConsole((line) => console.error(line));
  await using opened = new AsyncDisposableStack();
  const directory = opened.adopt(await mkdtemp(join(tmpdir(), 'sluice-test-')), (made) =>
    rm(made, { recursive: true, force: true }),
  );
  const stores = opened.adopt(
    await startStores({ directory, postgresSettings, log: (line) => console.error(line) }),
    (started) => started.close(),
  );
  const databaseUrl = new URL('/postgres', stores.databaseUrl).href;
  await createTemplate(databaseUrl);
  process.env.TEST_DATABASE_URL = databaseUrl;
  process.env.TEST_REDIS_URL = stores.redisUrl;
  globalThis.storesForTests = opened.move();
}

async function createTemplate(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${template}`);
  } finally {
    await client.end();
  }
  await migrateDatabase(new URL(`/${template}`, databaseUrl).href);
}
