import { sql } from 'kysely';
import { connectDatabase } from './index.ts';
import { rowsAsArrays } from './rows-as-arrays.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

const db = connectDatabase(
  { DATABASE_URL: process.env.TEST_DATABASE_URL ?? '', DATABASE_POOL_SIZE: 1 },
  { stack, onError: (error) => console.error(error) },
);
const unwatched = db.withPlugin({
  transformQuery: ({ node }) => node,
  transformResult: async ({ result }) => result,
});

test.each([
  ['a database with a pool', db],
  ['one with a plugin', unwatched],
])('rows of %s are arrays of columns in their order, read as those of any statement', async (_name, on) => {
  const statement = sql`
    select n as zulu, ${'text'}::text as alpha, null as none, to_timestamp(0) as at from generate_series(1, 2::int8) as n`;
  expect(await rowsAsArrays(on, statement)).toEqual([
    [1, 'text', null, '1970-01-01T00:00:00.000Z'],
    [2, 'text', null, '1970-01-01T00:00:00.000Z'],
  ]);
  await expect(rowsAsArrays(on, sql`select 1 / 0`)).rejects.toMatchObject({ code: '22012' });
});
