import { randomUUID } from 'node:crypto';
import { useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { reveal, startTestTokenVault } from '../testing/test-token-vault.ts';

const service = useStack(startTestTokenVault);

/** No answer is stored after the commit, as if the process had died. */
beforeAll(async () => {
  const { db } = service.current;
  await sql`create function refuse() returns trigger language plpgsql as $$ begin
    if exists (select from tokens where xmin = pg_current_xact_id()::xid) then return new; end if;
    raise 'gone';
  end $$`.execute(db);
  await sql`create trigger gone before update on idempotency_records for each row
    when (new.answer_ciphertext is not null) execute function refuse()`.execute(db);
});

test.each([
  ['a token', '/tokens', { type: 'token', data: 'text' }, 1],
  ['a token, deduplicated', '/tokens', { type: 'token', data: 'equal', deduplicate_token: true }, 1],
  ['a document', '/tokenize', { a: 'one', b: ['two', 3] }, 3],
])('%s is there once, and answered again as it was', async (_, path, body, count) => {
  const { createKey, send, db } = service.current;
  const key = await createKey({ rules: [reveal] });
  const before = await db.selectFrom('tokens').select('id').execute();
  const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
  const first = await send('POST', path, { key, headers, body });
  const second = await send('POST', path, { key, headers, body });
  expect([second.status, second.body]).toEqual([first.status, first.body]);
  expect([200, 201]).toContain(first.status);
  const after = await db.selectFrom('tokens').select('id').execute();
  expect(after.length - before.length).toBe(count);
});

test('tokens that are created at the same time share transactions with their kept answers', async () => {
  const { createKey, send, db } = service.current;
  const key = await createKey({ rules: [reveal] });
  const before = await sql<{ xmin: string }>`select distinct xmin::text from idempotency_records`.execute(db);
  const requests = Array.from({ length: 40 }, (_, at) => ({
    headers: { 'SVC-IDEMPOTENCY-KEY': randomUUID() },
    body: { id: `shared-${at}`, data: at, deduplicate_token: false },
  }));
  const sendAll = () => Promise.all(requests.map((request) => send('POST', '/tokens', { key, ...request })));
  const first = await sendAll();
  expect(first.map(({ status }) => status)).toEqual(requests.map(() => 201));
  const transactions = await sql<{ tokens: string[]; answers: number }>`
    select array_agg(id) as tokens,
      (select count(*) from idempotency_records as record where record.xmin = tokens.xmin)::integer as answers
    from tokens where id like 'shared-%' group by xmin
  `.execute(db);
  expect(transactions.rows.map(({ answers }) => answers)).toEqual(transactions.rows.map(({ tokens }) => tokens.length));
  expect(transactions.rows.length).toBeLessThan(20);
  const after = await sql<{ xmin: string }>`select distinct xmin::text from idempotency_records`.execute(db);
  expect(after.rows.length - before.rows.length).toBe(transactions.rows.length);
  expect((await sendAll()).map(({ body }) => body)).toEqual(first.map(({ body }) => body));
});

test('repetitions among new requests create, count and audit nothing, and the new ones are created', async () => {
  const { createKey, send, db } = service.current;
  const key = await createKey({ rules: [reveal] });
  const totals = async () => {
    const { rows } = await sql<Record<string, number>>`
      select (select count(*) from tokens)::integer as tokens, (select count(*) from idempotency_records)::integer as answers,
        (select sum(value) from counters where counter like 'tokens:%')::integer as counted,
        (select count(*) from audit_log where operation = 'create' and entity_type = 'token')::integer as audited
    `.execute(db);
    return Object.values(rows[0] ?? {});
  };
  const requests = Array.from({ length: 20 }, (_, at) => ({
    headers: { 'SVC-IDEMPOTENCY-KEY': randomUUID() },
    body: { data: `repeated ${at}`, ...(at % 4 === 0 && { deduplicate_token: true }) },
  }));
  const sendAll = (some: typeof requests) =>
    Promise.all(some.map((request) => send('POST', '/tokens', { key, ...request })));
  const repeated = requests.slice(0, 10);
  const first = await sendAll(repeated);
  const before = await totals();
  const all = await sendAll(requests);
  expect(all.map(({ status }) => status)).toEqual(requests.map(() => 201));
  expect(all.slice(0, 10).map(({ body }) => body)).toEqual(first.map(({ body }) => body));
  expect(await totals()).toEqual(before.map((total) => total + 10));
});

test('a key that created tokens is in use also for a document that has none', async () => {
  const { createKey, send } = service.current;
  const key = await createKey({ rules: [reveal] });
  const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
  expect((await send('POST', '/tokenize', { key, headers, body: { a: 'one' } })).status).toBe(200);
  expect((await send('POST', '/tokenize', { key, headers, body: {} })).status).toBe(409);
});
