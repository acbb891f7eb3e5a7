import { openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { connectAhead, connectDatabase } from './index.ts';

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

test('without Postgres nothing is opened, and nothing fails', async () => {
  await using stack = new AsyncDisposableStack();
  const options = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', DATABASE_POOL_SIZE: 3 };
  await connectAhead(connectDatabase(options, { stack, onError: () => undefined }), options);
});
