import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { openTestDatabase, startTransactionPooler, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { checkPooler } from './check-pooler.ts';
import { checkDatabase, connectDatabase, preparedSql } from './index.ts';

const database = useStack((stack) => openTestDatabase(stack));

const open = (url: string, stack: AsyncDisposableStack) =>
  connectDatabase({ DATABASE_URL: url, DATABASE_POOL_SIZE: 4 }, { stack, onError: () => {} });

const orders = ['oldest', 'newest'] as const;
const sizes = [1, 2, 3, 8];
const poolers = orders.flatMap((order) => sizes.map((size) => ({ order, size })));

describe.each(poolers)('behind a pooler of $size server processes that hands out the $order that is free', (pooler) => {
  test('one that loses named statements is named at the start, with what it needs', async () => {
    await using stack = new AsyncDisposableStack();
    const url = await startTransactionPooler(database.current.url, { keepsStatements: false, ...pooler }, stack);
    const db = open(url, stack);
    await sql`select 1`.execute(db);
    await expect(checkDatabase(db)).rejects.toThrow(
      /^the pooler before Postgres loses prepared statements: it must be PgBouncer 1.21/,
    );
  });

  test('one that prepares them anew is fine for as many processes as start at once, and so are their statements', async () => {
    await using stack = new AsyncDisposableStack();
    const url = await startTransactionPooler(database.current.url, { keepsStatements: true, ...pooler }, stack);
    await Promise.all(Array.from({ length: 12 }, () => checkDatabase(open(url, stack))));
    const db = open(url, stack);
    const double = preparedSql(
      'double_it',
      ({ value }: { value: number }) => sql<{ twice: number }>`select ${value}::int * 2 as twice`,
    );
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => (await double(db, { value: i }))[0]?.twice),
    );
    expect(answers).toEqual(Array.from({ length: 50 }, (_, i) => 2 * i));
  });
});

test('a pooler that has no server process to give is named with its setting', async () => {
  await using stack = new AsyncDisposableStack();
  const url = await startTransactionPooler(
    database.current.url,
    { keepsStatements: true, order: 'newest', size: 1 },
    stack,
  );
  const holder = open(url, stack);
  await holder.transaction().execute(async (tx) => {
    await sql`select 1`.execute(tx);
    await expect(checkPooler({ connectionString: url }, 50)).rejects.toThrow(
      'the pooler before Postgres gave no server connection within 50 ms: raise default_pool_size',
    );
  });
});

test('a pooler that refuses our parameters is told with its setting', async () => {
  await using stack = new AsyncDisposableStack();
  const fields = 'SFATAL\0C08P01\0Munsupported startup parameter: statement_timeout\0\0';
  const head = Buffer.from([0x45, 0, 0, 0, 4 + fields.length]);
  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    client.once('data', () => client.end(Buffer.concat([head, Buffer.from(fields)])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const db = open(`postgres://nobody@127.0.0.1:${port}/none`, stack);
  await expect(checkDatabase(db)).rejects.toThrow(
    'the pooler before Postgres refuses connections: set ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout',
  );
});
