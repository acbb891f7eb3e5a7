import { randomUUID } from 'node:crypto';
import { slow, untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { startTestManagement } from '../testing/test-management.ts';

const mostWaiting = 50;
const mostAuthorized = 20;

const api = useStack((stack) =>
  startTestManagement(stack, {
    TRUSTED_PROXIES: '127.0.0.0/8, ::1/128',
    APPLICATION_MAX_WAITING_SESSIONS: String(mostWaiting),
    TENANT_MAX_SESSIONS: String(mostAuthorized),
  }),
);

const make = (key: string, address = '192.0.2.7') =>
  api.current.send('POST', '/sessions', { key, headers: { 'X-Forwarded-For': address } });
const authorize = (key: string, nonce: string) =>
  api.current.send('POST', '/sessions/authorize', { key, body: { nonce, permissions: ['token:read'] } });
const publicApplication = () => api.current.application({ type: 'public', permissions: ['token:create'] });

async function flood(applicationId: string, endsInSeconds: number, network = (_n: number) => '192.0.2.0/24') {
  const { db, tenant } = api.current;
  const rows = Array.from({ length: mostWaiting - 1 }, (_, n) => ({
    ...{ tenant_id: tenant.tenant_id, id: randomUUID(), application_id: applicationId, made_from: '192.0.2.1' },
    ...{ key_hash: Buffer.from(randomUUID()), nonce_hash: Buffer.from(randomUUID()), network: network(n) },
    expires_at: new Date(Date.now() + endsInSeconds * 1000 + n).toISOString(),
  }));
  await db.insertInto('sessions').values(rows).execute();
  return rows.map(({ id }) => id);
}

async function waitingIds(applicationId: string): Promise<Set<string>> {
  const rows = await api.current.db
    .selectFrom('sessions')
    .select('id')
    .where('application_id', '=', applicationId)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

describe('sessions that wait are bounded', () => {
  test('beyond the most of an Application the oldest of the busiest network ends; those of others stay', async () => {
    const maker = await publicApplication();
    const { key } = await api.current.application();
    const quiet = (await make(maker.key, '198.51.100.1')).body;
    const flooded = await flood(maker.id, 100);
    expect(await waitingIds(maker.id)).toHaveProperty('size', mostWaiting);
    const late = await Promise.all(Array.from({ length: 20 }, () => make(maker.key, '192.0.2.200')));
    const ids = await waitingIds(maker.id);
    expect(ids.size).toBe(mostWaiting);
    expect(flooded.filter((id) => !ids.has(id))).toEqual(flooded.slice(0, 20));
    expect(late.every(({ status, body }) => status === 201 && ids.has(body.id))).toBe(true);
    expect((await authorize(key, quiet.nonce)).status).toBe(200);
  });

  test('those whose three minutes are over count neither for the bound nor for the busiest network', async () => {
    const maker = await publicApplication();
    const { key } = await api.current.application();
    const quiet = (await make(maker.key, '198.51.100.1')).body;
    await flood(maker.id, -100, (n) => `203.0.${n}.0/24`);
    const late = [];
    for (let i = 0; i < 10; i++) late.push((await make(maker.key, '198.51.100.2')).body);
    const ids = await waitingIds(maker.id);
    expect([quiet, ...late].every(({ id }) => ids.has(id))).toBe(true);
    expect((await authorize(key, quiet.nonce)).status).toBe(200);
  });
});

test('a Tenant has at most so many authorized sessions; one more is 429, and another Tenant is none the poorer', async () => {
  const { db, anotherTenant, send } = api.current;
  const { management_key: key } = await anotherTenant('full');
  const sessions = [];
  for (let i = 0; i < mostAuthorized + 1; i++) sessions.push(await api.current.waitingSession({ key }));
  const [first, ...others] = sessions;
  const beyond = others.pop();
  for (const { authorizer, nonce } of [first, ...others])
    expect((await authorize(authorizer.key, nonce)).status).toBe(200);
  const refused = await authorize(beyond.authorizer.key, beyond.nonce);
  expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining(`${mostAuthorized}`) } });
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]/);
  const other = await api.current.waitingSession();
  expect((await authorize(other.authorizer.key, other.nonce)).status).toBe(200);
  // A session that has ended makes room before it is swept
  const expires_at = new Date(Date.now() - 1).toISOString();
  await db.updateTable('sessions').set({ expires_at }).where('id', '=', first.id).execute();
  expect((await authorize(beyond.authorizer.key, beyond.nonce)).status).toBe(200);
  expect((await send('GET', `/sessions/${first.id}`, { key })).status).toBe(404);
});

test('the metrics tell what the limits did', async () => {
  const text = await api.current.metrics.metrics();
  expect(text).toMatch(/^sluice_session_limit_total\{outcome="ended"\} [1-9]/m);
  expect(text).toMatch(/^sluice_session_limit_total\{outcome="refused"\} 1$/m);
});

test('the start says when all clients may count as one network', async () => {
  const says = (lines: readonly string[]) => lines.some((line) => line.includes('TRUSTED_PROXIES is not set'));
  await using stack = new AsyncDisposableStack();
  const { logLines } = await startTestManagement(stack);
  expect([says(logLines), says(api.current.logLines)]).toEqual([true, false]);
});

describe('another Tenant is answered while 100 requests of one wait', () => {
  /** The lock is held until the other Tenant has its answer. */
  async function answersWhile(
    hold: (tx: typeof api.current.db) => Promise<unknown>,
    ask: () => Promise<{ status: number }>,
  ) {
    const { db, send, stranger } = api.current;
    const lock = await db.startTransaction().execute();
    let asked: Promise<{ status: number }[]>;
    try {
      await hold(lock);
      asked = Promise.all(Array.from({ length: 100 }, ask));
      await untilLockIsAwaited(db);
      for (let i = 0; i < 5; i++) {
        const other = await send('GET', '/permissions', { key: stranger.management_key });
        expect(other.status).toBe(200);
      }
    } finally {
      await lock.rollback().execute();
    }
    return (await asked).map(({ status }) => status);
  }

  slow('1.3 s')('to make a session', async () => {
    const { id, key } = await publicApplication();
    const statuses = await answersWhile(
      (tx) => sql`select pg_advisory_xact_lock(hashtextextended(${`sessions ${id}`}, 0))`.execute(tx),
      () => make(key),
    );
    expect(new Set(statuses)).toEqual(new Set([201]));
  });

  test('to authorize one', async () => {
    const { id, nonce, authorizer } = await api.current.waitingSession();
    const statuses = await answersWhile(
      (tx) => sql`select from sessions where id = ${id} for update`.execute(tx),
      () => authorize(authorizer.key, nonce),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    // On a very busy machine those behind the first may wait for a connection for too long
    expect(statuses.filter((status) => ![200, 409, 503].includes(status))).toEqual([]);
    expect(statuses).toContain(409);
  });
});
