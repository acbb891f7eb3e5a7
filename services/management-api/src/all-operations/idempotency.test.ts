import { randomUUID } from 'node:crypto';
import { useStack } from '@sluice/testing';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const body = { name: 'Once', type: 'private', permissions: ['token:read'] };

function headersOf(key: string) {
  return { 'SVC-IDEMPOTENCY-KEY': key };
}

function create(key: string, sent: object = body) {
  return api.current.send('POST', '/applications', { body: sent, headers: headersOf(key) });
}

async function countNamed(name: string): Promise<number> {
  const { db, tenant } = api.current;
  const rows = await db
    .selectFrom('applications')
    .select('id')
    .where('tenant_id', '=', tenant.tenant_id)
    .where('name', '=', name)
    .execute();
  return rows.length;
}

test('the same request under the same key acts once and is answered the same, Location included', async () => {
  const key = randomUUID();
  const name = `Once ${key}`;
  const first = await create(key, { ...body, name });
  const second = await create(key, { ...body, name });
  expect(first.status).toBe(201);
  expect(second.status).toBe(201);
  expect(second.body).toEqual(first.body);
  expect(second.headers.get('location')).toBe(first.headers.get('location'));
  expect(await countNamed(name)).toBe(1);
});

test('many at once: one acts, the others are answered the same or told that it is under way', async () => {
  const key = randomUUID();
  const name = `Raced ${key}`;
  const answers = await Promise.all(Array.from({ length: 10 }, () => create(key, { ...body, name })));
  const created = answers.filter(({ status }) => status === 201);
  expect(created.length).toBeGreaterThanOrEqual(1);
  expect(new Set(created.map((answer) => answer.body.id)).size).toBe(1);
  expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
  expect(await countNamed(name)).toBe(1);
});

test('another body under the same key is 409', async () => {
  const key = randomUUID();
  await create(key);
  expect((await create(key, { ...body, name: 'Other' })).status).toBe(409);
});

test('a key is the Application’s, the method’s and the path’s own', async () => {
  const { send, tenant, stranger } = api.current;
  const key = randomUUID();
  const mine = await create(key);
  const other = await send('POST', '/applications', { body, headers: headersOf(key), key: stranger.management_key });
  expect(other.status).toBe(201);
  expect(other.body.id).not.toBe(mine.body.id);
  const put = await send('PUT', `/applications/${mine.body.id}`, {
    body: { name: 'x', permissions: ['token:read'] },
    headers: headersOf(key),
  });
  expect(put.status).toBe(200);
  expect(tenant.tenant_id).not.toBe(stranger.tenant_id);
});

test('failures are not kept: the corrected request under the same key acts', async () => {
  const key = randomUUID();
  expect((await create(key, { ...body, permissions: ['tenant:read'] })).status).toBe(400);
  expect((await create(key)).status).toBe(201);
  const proxy = { name: 'P', destination_url: 'https://example.com', application: { id: randomUUID() } };
  const headers = headersOf(randomUUID());
  expect((await api.current.send('POST', '/proxies', { body: proxy, headers })).status).toBe(400);
  const { application: _, ...corrected } = proxy;
  expect((await api.current.send('POST', '/proxies', { body: corrected, headers })).status).toBe(201);
});

test('a replay never shows an API key that was replaced since', async () => {
  const { send } = api.current;
  const key = randomUUID();
  const first = await create(key);
  expect((await create(key)).body.key).toBe(first.body.key);
  const headers = headersOf(randomUUID());
  const regenerated = await send('POST', `/applications/${first.body.id}/regenerate`, { headers });
  expect((await create(key)).body).not.toHaveProperty('key');
  const again = await send('POST', `/applications/${first.body.id}/regenerate`, { headers });
  expect(again.body.key).toBe(regenerated.body.key);
  await send('DELETE', `/applications/${first.body.id}`);
  const afterwards = await send('POST', `/applications/${first.body.id}/regenerate`, { headers });
  expect(afterwards.body).not.toHaveProperty('key');
});

test('a replay shows neither the secrets of a Proxy that is gone, nor a configuration that was replaced', async () => {
  const { send } = api.current;
  const sent = { name: 'P', destination_url: 'https://example.com', configuration: { token: 'first-secret' } };
  const headers = headersOf(randomUUID());
  const make = () => send('POST', '/proxies', { body: sent, headers });
  const { body: made } = await make();
  const putHeaders = headersOf(randomUUID());
  const put = () => send('PUT', `/proxies/${made.id}`, { body: sent, headers: putHeaders });
  const { body: changed } = await put();
  expect([(await make()).body, (await put()).body]).toEqual([made, changed]);
  expect(made).toMatchObject({ key: expect.any(String), configuration: sent.configuration });
  const others = { ...sent, configuration: { token: 'second-secret' } };
  expect((await send('PUT', `/proxies/${made.id}`, { body: others })).status).toBe(200);
  for (const { status, body } of [await make(), await put()]) {
    expect([status < 300, body.key, body.configuration]).toEqual([true, made.key, undefined]);
  }
  expect((await send('DELETE', `/proxies/${made.id}`)).status).toBe(204);
  for (const { status, body } of [await make(), await put()]) {
    expect([status < 300, body.id, body.key, body.configuration]).toEqual([true, made.id, undefined, undefined]);
  }
});

test('a 204 is replayed as one', async () => {
  const { send } = api.current;
  const { body: proxy } = await send('POST', '/proxies', {
    body: { name: 'P', destination_url: 'https://example.com' },
  });
  const headers = { ...headersOf(randomUUID()), 'Content-Type': 'application/merge-patch+json' };
  for (let i = 0; i < 2; i++) {
    expect(await send('PATCH', `/proxies/${proxy.id}`, { body: { name: 'Q' }, headers })).toMatchObject({
      status: 204,
      body: '',
    });
  }
});

test('an answer that is older than 24 hours, and a claim whose worker died, are forgotten', async () => {
  const { db } = api.current;
  const key = randomUUID();
  const first = await create(key);
  const age = (hours: number) =>
    db
      .updateTable('idempotency_records')
      .set({ created_at: new Date(Date.now() - hours * 3600_000).toISOString() })
      .execute();
  await age(23);
  expect((await create(key)).body.id).toBe(first.body.id);
  await age(25);
  const second = await create(key);
  expect(second.body.id).not.toBe(first.body.id);
  const dead = { answer_ciphertext: null, locked_until: new Date(Date.now() + 60_000).toISOString() };
  await db.updateTable('idempotency_records').set(dead).execute();
  expect((await create(key)).status).toBe(409);
  await db
    .updateTable('idempotency_records')
    .set({ locked_until: new Date(Date.now() - 1000).toISOString() })
    .execute();
  expect((await create(key)).status).toBe(201);
});

test.each(['', 'with space', 'x'.repeat(256), 'é'])('%p is no key', async (key) => {
  const { url, tenant } = api.current;
  const response = await fetch(`${url}/applications`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': tenant.management_key, 'Content-Type': 'application/json', ...headersOf(key) },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(400);
});

test('reads take no key; what is kept is encrypted', async () => {
  const { send, db } = api.current;
  const headers = headersOf(randomUUID());
  expect((await send('GET', '/tenants/self', { headers })).status).toBe(200);
  const { body: created } = await create(randomUUID(), { ...body, name: 'canary-name' });
  const rows = await db.selectFrom('idempotency_records').selectAll().execute();
  const stored = rows
    .map((row) => Object.values(row).map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : value)))
    .join('\n');
  for (const secret of [created.key, 'canary-name']) expect(stored).not.toContain(secret);
});
