import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openStoresFolder } from '@sluice/testing';
import pg from 'pg';
import { hasEnded, untilEnded } from '../processes/child.ts';
import { processIdentity } from '../processes/process-identity.ts';
import { type Stores, startStores } from './stores.ts';

let directory: string;
let closing: AsyncDisposableStack;

beforeEach(async () => {
  closing = new AsyncDisposableStack();
  directory = await openStoresFolder(closing, 'stores');
});
afterEach(() => closing.disposeAsync());

const start = () => startStores({ directory, log: () => undefined });

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // the server may be killed below
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

function postgresOf({ processes }: Stores) {
  const child = processes.get('postgres');
  if (!child) throw new Error('Postgres does not run');
  return child;
}

test('data outlive a stop', async () => {
  const first = await start();
  await query(first.databaseUrl, 'CREATE TABLE t AS SELECT 1 AS n');
  await first.close();
  expect([...first.processes.values()].map(hasEnded)).toEqual([true, true]);

  await using second = { ...(await start()), [Symbol.asyncDispose]: () => second.close() };
  expect(await query(second.databaseUrl, 'SELECT n FROM t')).toEqual([{ n: 1 }]);
});

test('data outlive a kill -9, and a postmaster.pid that names another process by now', async () => {
  const first = await start();
  await query(first.databaseUrl, 'CREATE TABLE t AS SELECT 1 AS n');
  postgresOf(first).kill('SIGKILL');
  await untilEnded(postgresOf(first));
  await first.close();
  await writeFile(join(directory, 'postgres', 'data', 'postmaster.pid'), `${process.pid}\n`);

  const second = await start();
  expect(await query(second.databaseUrl, 'SELECT n FROM t')).toEqual([{ n: 1 }]);
  await second.close();
});

test('a store that was killed starts again at the same URL', async () => {
  const stores = await start();
  for (const name of ['postgres', 'redis']) {
    const child = stores.processes.get(name);
    child?.kill('SIGKILL');
    if (child) await untilEnded(child);
    await stores.restart(name);
    expect(stores.processes.get(name)).not.toBe(child);
  }
  expect(await query(stores.databaseUrl, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  await stores.close();
});

test('a session that outlived a killed Postgres has ended before the next one touches its files', async () => {
  const stores = await start();
  const client = new pg.Client({ connectionString: stores.databaseUrl });
  client.on('error', () => undefined); // its server is killed
  await client.connect();
  const [{ pid }] = (await client.query('SELECT pg_backend_pid() AS pid')).rows;
  process.kill(pid, 'SIGSTOP'); // so that it cannot notice
  const postgres = postgresOf(stores);
  postgres.kill('SIGKILL');
  await untilEnded(postgres);
  const identity = processIdentity(pid);
  expect(identity).toBeDefined();
  await stores.restart('postgres');
  expect(processIdentity(pid)).not.toBe(identity);
  await stores.close();
});

test('only the password opens the database, and only the owner reads it', async () => {
  const stores = await start();
  const wrong = new URL(stores.databaseUrl);
  wrong.password = 'wrong';
  await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
  expect((await stat(join(directory, 'postgres', 'password'))).mode & 0o777).toBe(0o600);
  await stores.close();
});

test('a failed start leaves nothing running and says why', async () => {
  const options = { directory, log: () => undefined, postgresSettings: { shared_buffers: 'much' } };
  await expect(startStores(options)).rejects.toThrow(/Postgres did not start \(exit code 1\):\n.*shared_buffers/s);
  expect(await readdir(join(directory, 'redis'))).not.toContain('redis.pid'); // it removes the file when it ends
});

test('an abort gives up', async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error('enough')), 150);
  const start = startStores({ directory, log: () => undefined, signal: stop.signal });
  await expect(start).rejects.toThrow('enough');
});
