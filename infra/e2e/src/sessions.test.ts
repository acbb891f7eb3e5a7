import { eventually, startDestination, useStack } from '@sluice/testing';
import { openSession } from './open-session.ts';
import { startPlatform } from './platform.ts';

jest.setTimeout(120_000);

const world = useStack(async (closing) => {
  const platform = await startPlatform(closing);
  const destination = await startDestination(closing);
  return { platform, destination };
});

const reads = { priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] };
const uses = { priority: 1, container: '/', transform: 'reveal', permissions: ['token:use'] };

test('a session reads and uses what its Application may, and ends everywhere when the answer goes out', async () => {
  const { platform, backend, read, invoke } = await openSession(world.current, { rules: [reads, uses] });
  for (let i = 0; i < 3; i++)
    expect([(await read()).body.data, (await invoke()).status]).toEqual(['a secret value', 200]); // warm
  const second = await platform.manage('POST', `/applications/${backend.id}/keys`);
  expect(second.status).toBe(201);
  const keys = (await platform.manage('GET', `/applications/${backend.id}/keys`)).body;
  expect((await platform.manage('DELETE', `/applications/${backend.id}/keys/${keys[1].id}`)).status).toBe(204);
  expect([(await read()).status, (await invoke()).status]).toEqual([401, 401]);
  const still = await platform.call('POST', '/tokens', { key: second.body.key, body: { data: 1 } });
  expect(still.status).toBe(201);
});

test('delegation never widens, also when the Application loses a right while the session is warm', async () => {
  const { platform, backend, read, invoke } = await openSession(world.current, {
    permissions: ['token:delete'],
    rules: [reads, uses],
  });
  expect((await read()).body.data).toBe('a secret value');
  expect((await invoke()).status).toBe(200);
  const narrower = {
    name: 'A',
    rules: [{ priority: 1, container: '/general/', transform: 'redact', permissions: ['token:read'] }],
  };
  expect((await platform.manage('PUT', `/applications/${backend.id}`, narrower)).status).toBe(200);
  const answer = await read();
  expect([answer.status, 'data' in answer.body]).toEqual([200, false]);
  expect((await invoke()).status).toBe(403);
});

test('conditions bind, in reads and in lists', async () => {
  const { platform, token, key, read } = await openSession(world.current, {
    rules: [
      {
        priority: 1,
        transform: 'reveal',
        permissions: ['token:read'],
        conditions: [{ attribute: 'id', operator: 'equals', value: 'another' }],
      },
    ],
  });
  expect((await read()).status).toBe(403);
  const list = await platform.call('GET', '/tokens', { key });
  expect([list.status, list.body.pagination.total_items, list.body.data]).toEqual([200, 0, []]);
  const allowed = await openSession(world.current, {
    rules: [
      {
        priority: 1,
        transform: 'reveal',
        permissions: ['token:read'],
        conditions: [{ attribute: 'container', operator: 'starts_with', value: '/general/' }],
      },
    ],
  });
  expect((await allowed.read()).body.data).toBe('a secret value');
  const own = await allowed.platform.call('GET', '/v2/tokens', { key: allowed.key });
  expect(own.body.data.map(({ id }: { id: string }) => id)).toContain(allowed.token.id);
  expect(own.body.data.map(({ id }: { id: string }) => id)).toContain(token.id);
});

test('a session that is bound to a Proxy is 403 at every other', async () => {
  const { platform, destination } = world.current;
  const other = await platform.createProxy({ destination_url: destination.url });
  const bound = await openSession(world.current, { permissions: ['token:use'], proxies: [other.id] });
  expect((await bound.invoke()).status).toBe(403);
  expect((await bound.invoke(other.key)).status).toBe(200);
});

test('the address comes from the ingress, not from what a client writes', async () => {
  const { platform } = world.current;
  const page = await platform.createApplication({ type: 'public', permissions: ['token:create'] });
  const backend = await platform.createApplication({ permissions: ['token:read'] });
  const make = () =>
    platform.call('POST', '/sessions', { key: page.key, headers: { 'X-Forwarded-For': '203.0.113.9' } });
  const authorize = (nonce: string, address: string) =>
    platform.call('POST', '/sessions/authorize', {
      key: backend.key,
      body: { nonce, address, permissions: ['token:read'] },
    });
  const { nonce } = (await make()).body;
  expect((await authorize(nonce, '203.0.113.9')).status).toBe(403);
  expect((await authorize(nonce, '127.0.0.1')).status).toBe(200);
});

test('what a session does is audited as its own, with the Application that authorized it', async () => {
  const opened = await openSession(world.current, {
    rules: [{ ...reads, permissions: ['token:read', 'token:create', 'token:use'] }],
  });
  const { platform, id, key, backend, token, read, invoke } = opened;
  const made = await platform.call('POST', '/tokens', { key, body: { data: 'by the session' } });
  expect([made.status, made.body.created_by]).toEqual([201, id]);
  expect([(await read()).status, (await invoke()).status]).toEqual([200, 200]);
  const rowsOf = async () => (await platform.manage('GET', `/logs?actor_id=${id}&size=100`)).body.data;
  await eventually('the disclosures are in the log', async () => (await rowsOf()).length >= 3);
  const rows = (await rowsOf()) as { operation: string; actor_type: string; detail: { application_id: string } }[];
  expect(rows.map(({ operation }) => operation).sort()).toEqual(['create', 'read', 'use']);
  for (const row of rows) {
    expect(row).toMatchObject({ actor_type: 'session', detail: { application_id: backend.id } });
  }
  expect(JSON.stringify(rows)).toContain(token.id);
});
