import { eventually, openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { connectDatabase, type Database } from './index.ts';

const database = useStack(openTestDatabase);

/** Has one connection, so that the next query shows what became of it. */
function openPool(stack: AsyncDisposableStack, statementTimeoutMs: number): { db: Database; errors: Error[] } {
  const errors: Error[] = [];
  const options = { DATABASE_URL: database.current.url, DATABASE_POOL_SIZE: 1 };
  const db = connectDatabase(options, { stack, onError: (error) => errors.push(error), statementTimeoutMs });
  return { db, errors };
}

async function pidOf(db: Database): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  return rows[0]?.pid as number;
}

async function freeze(db: Database, stack: AsyncDisposableStack): Promise<number> {
  const pid = await pidOf(db);
  process.kill(pid, 'SIGSTOP');
  stack.defer(() => void process.kill(pid, 'SIGCONT'));
  return pid;
}

test('a query that a server process does not answer at all fails, and the next one has another connection', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = openPool(stack, 1000);
  const frozen = await freeze(db, stack);
  const sentAt = performance.now();
  await expect(pidOf(db)).rejects.toThrow('Connection terminated');
  expect(performance.now() - sentAt).toBeGreaterThan(1450); // the statement's time, and half a second to say so
  expect(await pidOf(db)).not.toBe(frozen);
});

test('a transaction whose connection hangs fails, and the next one works', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = openPool(stack, 1000);
  const transaction = db.transaction().execute(async (tx) => {
    await sql`select 1`.execute(tx);
    await freeze(tx, stack);
    await sql`select 2`.execute(tx);
  });
  await expect(transaction).rejects.toThrow();
  await db.transaction().execute((tx) => sql`select 3`.execute(tx));
});

test('a statement that takes too long is ended by Postgres, and its connection goes on', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = openPool(stack, 1000);
  const pid = await pidOf(db);
  await expect(sql`select pg_sleep(10)`.execute(db)).rejects.toThrow('statement timeout');
  expect(await pidOf(db)).toBe(pid);
});

test('statements that are answered in time are left alone, however many, and so is a connection with nothing to do', async () => {
  await using stack = new AsyncDisposableStack();
  const { db, errors } = openPool(stack, 1000);
  const pid = await pidOf(db);
  await db.connection().execute(async (connection) => {
    for (let i = 0; i < 8; i++) await sql`select pg_sleep(0.2)`.execute(connection); // longer than one may take
  });
  await new Promise((resolve) => setTimeout(resolve, 1700));
  expect(await pidOf(db)).toBe(pid);
  expect(errors).toEqual([]);
});

test('without a statement timeout a statement may take as long as it takes', async () => {
  await using stack = new AsyncDisposableStack();
  const { db } = openPool(stack, 0);
  await sql`select pg_sleep(1)`.execute(db);
});

test.each(['under way', 'between two statements of a transaction', 'idle'])(
  'a connection that Postgres ends while %s ends nothing else',
  async (when) => {
    await using stack = new AsyncDisposableStack();
    const { db, errors } = openPool(stack, 5000);
    const pid = await pidOf(db);
    const end = () => sql`select pg_terminate_backend(${pid})`.execute(database.current.db);
    if (when === 'under way') {
      const query = sql`select pg_sleep(10)`.execute(db);
      await Promise.all([expect(query).rejects.toThrow('terminating connection'), end()]);
    } else if (when === 'idle') {
      await end();
      await eventually('noticed', () => errors.length > 0);
    } else {
      const transaction = db.transaction().execute(async (tx) => {
        await sql`select 1`.execute(tx);
        await end();
        await new Promise((resolve) => setTimeout(resolve, 50));
        await sql`select 2`.execute(tx);
      });
      await expect(transaction).rejects.toThrow();
    }
    await eventually('another connection', async () => (await pidOf(db).catch(() => pid)) !== pid);
  },
);
