import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { openTestDatabase, serveBytes, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { connectAhead, connectDatabase, type Database } from './index.ts';
import { wholePool } from './pools.ts';

const database = useStack((stack) => openTestDatabase(stack));

test('all connections of the pool are open, before the first request', async () => {
  await using stack = new AsyncDisposableStack();
  const options = { DATABASE_URL: database.current.url, DATABASE_POOL_SIZE: 7, DATABASE_WAIT_MS: 20_000 };
  const db = connectDatabase(options, { stack, onError: (error) => console.error(error) });
  await connectAhead(db, options);
  const { rows } = await sql<{ count: number }>`
    select count(*) from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`.execute(
    db,
  );
  expect(rows).toEqual([{ count: 7 }]);
});

test('none of them is closed because it is idle', async () => {
  await using stack = new AsyncDisposableStack();
  const options = { DATABASE_URL: database.current.url, DATABASE_POOL_SIZE: 3 };
  const db = connectDatabase(options, { stack, onError: (error) => console.error(error) });
  // 0 is "never" for pg. Otherwise a connection is closed after ten idle seconds.
  expect(wholePool(db)?.options).toMatchObject({ idleTimeoutMillis: 0 });
});

test('opening one may take longer than a request may wait for a free one', async () => {
  await using stack = new AsyncDisposableStack();
  const { hostname, port } = new URL(database.current.url);
  const slow = await serveBytes(stack, async (client) => {
    await wait(1_000);
    const upstream = connect(Number(port), hostname).on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  });
  const url = new URL(database.current.url);
  url.host = new URL(slow).host;
  const options = { DATABASE_URL: url.href, DATABASE_POOL_SIZE: 1, DATABASE_WAIT_MS: 200 };
  const connecting = { stack, onError: (error: Error) => console.error(error) };
  const select = (db: Database) => sql<{ one: number }>`select 1 as one`.execute(db);
  expect((await select(connectDatabase(options, connecting))).rows).toEqual([{ one: 1 }]);
  await expect(select(connectDatabase(options, { ...connecting, openWithinMs: 200 }))).rejects.toThrow('timeout'); // the control
});

test('without Postgres nothing is opened, and nothing fails', async () => {
  await using stack = new AsyncDisposableStack();
  const options = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', DATABASE_POOL_SIZE: 3 };
  await connectAhead(connectDatabase(options, { stack, onError: () => undefined }), options);
});
