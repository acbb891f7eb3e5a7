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
