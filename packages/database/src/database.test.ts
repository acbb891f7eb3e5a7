import { randomUUID } from 'node:crypto';
import { eventually, openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { addToCounter, connectDatabase, migrate, ping, readCounter } from './index.ts';

const database = useStack((stack) => openTestDatabase(stack));

describe('values as they are read', () => {
  test.each([
    ["'2026-02-03T04:05:06.7+01:00'::timestamptz", '2026-02-03T03:05:06.700Z'],
    ["'9999-12-31T23:59:59.999Z'::timestamptz", '9999-12-31T23:59:59.999Z'],
    ["'2026-02-01'::date", '2026-02-01'],
    ['9007199254740991::bigint', 9007199254740991],
    ['count(*)', 1],
    ["'{a,b}'::text[]", ['a', 'b']],
    [`'{"a":[1]}'::jsonb`, { a: [1] }],
    ["'\\x00ff'::bytea", Buffer.from([0, 255])],
    ['null::timestamptz', null],
  ])('%s', async (expression, value) => {
    const { rows } = await sql<{ value: unknown }>`select ${sql.raw(expression)} as value`.execute(database.current.db);
    expect(rows[0]?.value).toEqual(value);
  });
});

test.each(['hex', 'escape'])('bytes have memory of their own, read as %s', async (output) => {
  const bytes = await database.current.db.transaction().execute(async (tx) => {
    await sql`set local bytea_output = ${sql.raw(output)}`.execute(tx);
    const { rows } = await sql<{ bytes: Buffer }>`select '\\x00ff5c61'::bytea as bytes`.execute(tx);
    return rows[0]?.bytes;
  });
  expect(bytes).toEqual(Buffer.from([0, 255, 0x5c, 0x61]));
  expect(bytes?.buffer.byteLength).toBe(4);
});

describe('counters', () => {
  test('what was never counted is 0', async () => {
    expect(await readCounter(database.current.db, randomUUID(), 'x')).toBe(0);
  });

  test('the slots of many writers at once add up, for each Tenant and name alone', async () => {
    const { db } = database.current;
    const [a, b] = [randomUUID(), randomUUID()];
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => addToCounter(db, i % 2 ? a : b, i % 4 < 2 ? 'x' : 'y', i % 2 ? 3 : -1)),
    );
    expect(await Promise.all([a, b].map((id) => readCounter(db, id, 'x')))).toEqual([75, -25]);
    expect(await Promise.all([a, b].map((id) => readCounter(db, id, 'y')))).toEqual([75, -25]);
  });

  test('go back with the transaction', async () => {
    const { db } = database.current;
    const id = randomUUID();
    const rolledBack = db.transaction().execute(async (tx) => {
      await addToCounter(tx, id, 'x', 5);
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    expect(await readCounter(db, id, 'x')).toBe(0);
  });

  test('last_at is the latest moment, in whatever order they come', async () => {
    const { db } = database.current;
    const id = randomUUID();
    for (const at of ['2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z', '2026-01-01T00:00:00.000Z', null]) {
      await addToCounter(db, id, 'x', 1, at);
    }
    const { last_at } = await db
      .selectFrom('counters')
      .select((eb) => eb.fn.max('last_at').as('last_at'))
      .where('tenant_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(last_at).toBe('2026-01-03T00:00:00.000Z');
  });
});

test('migrations that several processes apply at once are applied once', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = database.current;
  const name = `empty_${randomUUID().replaceAll('-', '')}`;
  await sql.raw(`create database ${name}`).execute(db);
  stack.defer(async () => {
    await sql.raw(`drop database ${name} with (force)`).execute(db);
  });
  const url = new URL(database.current.url);
  url.pathname = `/${name}`;
  const options = { DATABASE_URL: url.href, DATABASE_POOL_SIZE: 2 };
  const processes = [1, 2, 3].map(() => connectDatabase(options, { stack, onError: () => {} }));
  const applied = await Promise.all(processes.map((connection) => migrate(connection)));
  expect(applied.map((names) => names.length).sort()).toEqual([0, 0, expect.any(Number)]);
  expect(applied.flat()[0]).toBe('0001-first-tables');
  const [first] = processes;
  expect(first && (await migrate(first))).toEqual([]);
});

test('a database that is away is an error at once, not a crash', async () => {
  await using stack = new AsyncDisposableStack();
  const options = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', DATABASE_POOL_SIZE: 1 };
  const db = connectDatabase(options, { stack, onError: () => {} });
  await expect(ping(db)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a connection that Postgres ends is replaced', async () => {
  await using stack = new AsyncDisposableStack();
  const errors: Error[] = [];
  const options = { DATABASE_URL: database.current.url, DATABASE_POOL_SIZE: 1 };
  const db = connectDatabase(options, { stack, onError: (error) => errors.push(error) });
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database.current.db);
  await eventually('noticed', () => errors.length > 0);
  // Postgres's last message may arrive before the end of its connection.
  await eventually('another connection', () =>
    ping(db).then(
      () => true,
      () => false,
    ),
  );
  expect(errors).toHaveLength(1);
});

test('a connection that Postgres ends in the middle of a transaction fails it, and nothing else', async () => {
  await using stack = new AsyncDisposableStack();
  const options = { DATABASE_URL: database.current.url, DATABASE_POOL_SIZE: 1 };
  const db = connectDatabase(options, { stack, onError: () => {} });
  const work = db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database.current.db);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await sql`select 1`.execute(tx);
  });
  await expect(work).rejects.toThrow();
  await ping(db);
});

test('a transaction that was forgotten is ended by Postgres, and a statement that takes too long too', async () => {
  const { rows } = await sql<{ name: string; setting: string }>`
    select name, setting from pg_settings
    where name in ('statement_timeout', 'idle_in_transaction_session_timeout') order by name
  `.execute(database.current.db);
  expect(rows.map(({ setting }) => Number(setting))).toEqual([10_000, 10_000]);
});
