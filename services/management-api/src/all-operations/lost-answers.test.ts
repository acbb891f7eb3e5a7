import { randomUUID } from 'node:crypto';
import { untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));

function create(name: string) {
  const body = { name, type: 'private', permissions: ['token:read'] };
  return api.current.send('POST', '/applications', { body, headers: { 'SVC-IDEMPOTENCY-KEY': name } });
}

async function countNamed(name: string): Promise<number> {
  const rows = await api.current.db.selectFrom('applications').select('id').where('name', '=', name).execute();
  return rows.length;
}

/** No answer is stored after the commit, as if the process had died. */
async function withoutLastWord(act: () => Promise<void>): Promise<void> {
  const { db } = api.current;
  await sql`create function refuse() returns trigger language plpgsql as $$ begin
    if exists (select from audit_log where xmin = pg_current_xact_id()::xid) then return new; end if;
    raise 'gone';
  end $$`.execute(db);
  await sql`create trigger gone before update on idempotency_records for each row
    when (new.answer_ciphertext is not null) execute function refuse()`.execute(db);
  try {
    await act();
  } finally {
    await sql`drop function refuse cascade`.execute(db);
  }
}

test('a creation whose process died after the commit is replayed, key and all, and its change confirmed', async () => {
  const name = randomUUID();
  await withoutLastWord(async () => {
    const first = await create(name);
    const second = await create(name);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(second.headers.get('svc-revocation')).toMatch(/^change=[0-9a-f-]{36}, holders=\d+, waited_ms=\d+$/);
  });
  expect(await countNamed(name)).toBe(1);
});

test('so is a Proxy, and a key that was replaced', async () => {
  await withoutLastWord(async () => {
    const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
    const body = { name: 'P', destination_url: 'https://example.com' };
    const proxies = [1, 2].map(() => () => api.current.send('POST', '/proxies', { body, headers }));
    const [proxy, sameProxy] = [await proxies[0]?.(), await proxies[1]?.()];
    expect(sameProxy?.body).toEqual(proxy?.body);

    const { id, key } = await api.current.application();
    const regenerate = () => api.current.send('POST', `/applications/${id}/regenerate`, { headers });
    const [first, second] = [await regenerate(), await regenerate()];
    expect(first.body.key).not.toBe(key);
    expect(second.body).toEqual(first.body);
  });
});

test('so is a key that was added, and a session that was authorized', async () => {
  const { db, send, application, waitingSession } = api.current;
  const { id } = await application();
  const session = await waitingSession();
  await withoutLastWord(async () => {
    const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
    const add = () => send('POST', `/applications/${id}/keys`, { headers });
    const [first, second] = [await add(), await add()];
    expect(first.status).toBe(201);
    expect(second.body).toEqual(first.body);

    const { key } = session.authorizer;
    const body = { nonce: session.nonce, permissions: ['token:read'] };
    const authorize = () => send('POST', '/sessions/authorize', { key, headers, body });
    const [done, again] = [await authorize(), await authorize()];
    expect([done.status, again.status]).toEqual([200, 200]);
    expect(again.headers.get('svc-revocation')).toContain('change=');
  });
  const rows = await db.selectFrom('application_keys').select('id').where('application_id', '=', id).execute();
  expect(rows).toHaveLength(2);
});

test('it is not replayed to a key that was deleted while its change was confirmed', async () => {
  const { db, keyWith, send } = api.current;
  const key = await keyWith('application:create');
  const headers = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
  const body = { name: randomUUID(), type: 'private', permissions: ['token:read'] };
  const ask = () => send('POST', '/applications', { key, body, headers });
  await withoutLastWord(async () => expect((await ask()).status).toBe(201));
  const lock = await db.startTransaction().execute();
  await sql`lock table cache_leases in access exclusive mode`.execute(lock);
  const again = ask();
  await untilLockIsAwaited(db);
  await sql`delete from application_keys where application_id = (
    select created_by from applications where name = ${body.name})`.execute(db);
  await lock.rollback().execute();
  expect((await again).status).toBe(401);
});

test('one that could not be confirmed stands, and is confirmed when it is sent again', async () => {
  const name = randomUUID();
  const { db } = api.current;
  const lock = await db.startTransaction().execute();
  try {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(lock);
    await sql`lock table cache_leases in access exclusive mode`.execute(lock);
    expect((await create(name)).status).toBe(503);
  } finally {
    await lock.rollback().execute();
  }
  const again = await create(name);
  expect(again.status).toBe(201);
  expect(again.headers.get('svc-revocation')).toContain('change=');
  expect(await countNamed(name)).toBe(1);
});

test('one that hung until another process had answered under its key is rolled back, and answers as that one', async () => {
  const name = randomUUID();
  const { db } = api.current;
  const before = await db.selectFrom('idempotency_records').select('claim_id').execute();
  const others = before.map(({ claim_id }) => claim_id);
  const first = await create(name);
  const record = await db
    .deleteFrom('idempotency_records')
    .where('claim_id', 'not in', [...others, randomUUID()])
    .returningAll()
    .executeTakeFirstOrThrow();
  const lock = await db.startTransaction().execute();
  await sql`lock table audit_log in access exclusive mode`.execute(lock);
  const hanging = create(name);
  await untilLockIsAwaited(db);
  await db.insertInto('idempotency_records').values(record).execute();
  await lock.rollback().execute();
  const second = await hanging;
  expect([second.status, second.body]).toEqual([201, first.body]);
  expect(await countNamed(name)).toBe(1);
});
