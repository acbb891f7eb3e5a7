import { sql } from 'kysely';
import { connectDatabase, prepared } from './index.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

const db = connectDatabase(
  { DATABASE_URL: process.env.TEST_DATABASE_URL ?? '', DATABASE_POOL_SIZE: 1 },
  { stack, onError: (error) => console.error(error) },
);

const echo = prepared('echo', (queryable, number: number, texts: string[] | null) =>
  queryable.selectNoFrom([
    sql<string[] | null>`${texts}::text[]`.as('texts'),
    sql<number>`${number}::integer`.as('number'),
    sql<string>`${'constant'}::text`.as('constant'),
  ]),
);

describe('a prepared look-up', () => {
  test('gives each call what its own values find', async () => {
    expect(await echo(db, 1, ['a'])).toEqual([{ number: 1, texts: ['a'], constant: 'constant' }]);
    expect(await echo(db, 2, null)).toEqual([{ number: 2, texts: null, constant: 'constant' }]);
    const all = await Promise.all([3, 4, 5].map((number) => echo(db, number, [])));
    expect(all.flat().map(({ number }) => number)).toEqual([3, 4, 5]);
  });

  test('is parsed once for a connection', async () => {
    for (let n = 0; n < 10; n++) await echo(db, n, []);
    const { rows } =
      await sql`select name, generic_plans + custom_plans > 9 as reused from pg_prepared_statements`.execute(db);
    expect(rows).toEqual([{ name: 'echo', reused: true }]);
  });

  test('runs in a transaction, as part of it', async () => {
    const inTransaction = prepared('in_transaction', (queryable, unused: null) =>
      queryable.selectNoFrom([sql`current_setting('application_name')`.as('name'), sql`${unused}::text`.as('unused')]),
    );
    const rows = await db.transaction().execute(async (tx) => {
      await sql`set local application_name = 'ours'`.execute(tx);
      return inTransaction(tx, null);
    });
    expect(rows).toEqual([{ name: 'ours', unused: null }]);
  });

  test('fails as any query does, and the connection goes on', async () => {
    const divide = prepared('divide', (queryable, by: number) =>
      queryable.selectNoFrom(sql<number>`1 / ${by}::integer`.as('result')),
    );
    await expect(divide(db, 0)).rejects.toMatchObject({ code: '22012' });
    expect(await divide(db, 1)).toEqual([{ result: 1 }]);
  });
});

test.each([
  [[]],
  [['a']],
  [['token:read', '/pci/high/']],
  [['with, comma', 'with "quote"', 'back\\slash', '{brace}', '']],
  [['NULL', 'null', 'NULLABLE']],
  [['a', null]],
])('text[] %j is read as it was written', async (texts) => {
  const { rows } = await sql`select ${texts}::text[] as texts`.execute(db);
  expect(rows).toEqual([{ texts }]);
});
