import type { Queryable } from '@sluice/database';
import { countBuffers, recordStatements, useStack } from '@sluice/testing';
import { type RawBuilder, sql } from 'kysely';
import { listTokens, searchTokens } from '../index.ts';
import { openTestVault } from '../testing/open-test-vault.ts';
import { inSearchTime } from './search-time.ts';

const tokenCount = 8;
const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

/** Each token has half a MiB of metadata that does not compress, with two thousand keys, so that its terms are large too. */
const open = useStack(async (stack) => {
  const test = await openTestVault(stack);
  const actor = await test.createActor({ rules: [{ transform: 'redact' }] });
  const pairs = Object.fromEntries(keys.map((key) => [key, '1']));
  await sql`
    insert into tokens (tenant_id, id, type, data_ciphertext, containers, metadata, active_month)
    select ${actor.tenantId}, 'token-' || n, 'token', 'data', '{/a/,/b/,/c/}',
      ${JSON.stringify(pairs)}::jsonb || (
        select jsonb_object_agg(i || '-' || n, (select string_agg(md5(i || '-' || n || '-' || j), '') from generate_series(1, 8) j))
        from generate_series(1, 2000) i
      ), date_trunc('month', now())
    from generate_series(1, ${tokenCount}::int) n`.execute(test.db);
  await sql`vacuum analyze tokens`.execute(test.db);
  return { ...test, actor };
});

async function buffersOf(condition: RawBuilder<unknown>): Promise<number> {
  const { db, actor } = open.current;
  return countBuffers(db, [
    sql`select count(*) from tokens where tenant_id = ${actor.tenantId} and ${condition}`.compile(db),
  ]);
}

const readOnce = () => buffersOf(sql`octet_length(metadata::text) + cardinality(search_terms) > 0`);
const every = (textOf: (key: string) => string, word: string) => keys.map(textOf).join(` ${word} `);

test.each([
  ['NOT over metadata that all have', `NOT (${every((key) => `metadata.${key}:1`, 'AND')})`],
  ['NOT over metadata that none has', `NOT (${every((key) => `metadata.${key}:2`, 'OR')})`],
  ['metadata, one of many', `NOT id:x AND (${every((key) => `metadata.${key}:1`, 'OR')})`],
  ['metadata, each of many', every((key) => `metadata.${key}:1`, 'AND')],
  ['NOT over containers', 'NOT (container:/a/* AND container:/b/* AND container:/c/* AND NOT metadata.a:2)'],
])('a search reads the metadata and terms of a token once: %s', async (_name, query) => {
  const { vault, actor } = open.current;
  const recorded = recordStatements(open.current.db);
  await searchTokens({ ...vault, db: recorded.db }, actor, { query, page: 1, size: 1 });
  const [count] = recorded.statements.filter((statement) => statement.sql.includes('count(*)'));
  if (!count) throw new Error('no statement');
  expect(await countBuffers(open.current.db, [count])).toBeLessThan(2.2 * (await readOnce()));
});

test('the control: compared one by one, they are read for each comparison', async () => {
  const each = keys.map((key) => sql`metadata ->> ${key}::text = '1'`);
  expect(await buffersOf(sql`not (${sql.join(each, sql` and `)})`)).toBeGreaterThan(
    0.6 * keys.length * (await readOnce()),
  );
});

test('a filter of a list reads metadata once, whatever the number of its keys', async () => {
  const { vault, actor } = open.current;
  const recorded = recordStatements(open.current.db);
  const metadata = Object.fromEntries(keys.map((key) => [key, '1']));
  const { total } = await listTokens({ ...vault, db: recorded.db }, actor, { metadata }, { page: 1, size: 1 });
  expect(total).toBe(tokenCount);
  const [count] = recorded.statements.filter((statement) => statement.sql.includes('count(*)'));
  if (!count) throw new Error('no statement');
  expect(await countBuffers(open.current.db, [count])).toBeLessThan(2.2 * (await readOnce()));
});

test('a search past the end counts and reads no page, nor does a list', async () => {
  const { vault, actor } = open.current;
  const pagesReadBy = async (page: number) => {
    const recorded = recordStatements(open.current.db);
    const request = { page, size: 1 };
    await searchTokens({ ...vault, db: recorded.db }, actor, { query: 'NOT id:x', ...request });
    await listTokens({ ...vault, db: recorded.db }, actor, {}, request);
    return recorded.statements.filter((statement) => statement.sql.includes('found_id')).length;
  };
  expect(await pagesReadBy(tokenCount + 1)).toBe(0);
  expect(await pagesReadBy(tokenCount)).toBe(2); // control
});

test('the statements of a search have two seconds together, and another statement on the connection has more', async () => {
  const { db } = open.current;
  const sleep = (seconds: number) => (tx: Queryable) => sql`select pg_sleep(${seconds})`.execute(tx);
  await inSearchTime(db, (read) => read(sleep(0.1)));
  await expect(inSearchTime(db, (read) => read(sleep(60)))).rejects.toMatchObject({ code: '57014' });
  const timeouts = await Promise.all(
    Array.from({ length: 10 }, () => sql<{ statement_timeout: string }>`show statement_timeout`.execute(db)),
  );
  expect(new Set(timeouts.map(({ rows }) => rows[0]?.statement_timeout))).toEqual(new Set(['10s']));
  // The second does not have what the first took
  const left: number[] = [];
  await inSearchTime(db, async (read) => {
    for (const seconds of [0, 0.2, 0]) {
      const ofStatement = sql<{ ms: string }>`
        select setting as ms from pg_settings cross join pg_sleep(${seconds}) where name = 'statement_timeout'`;
      const { rows } = await read((tx) => ofStatement.execute(tx));
      left.push(Number(rows[0]?.ms));
    }
  });
  expect(left).toEqual(left.toSorted((a, b) => b - a));
  expect(left.at(-1)).toBeLessThanOrEqual(1800);
});
