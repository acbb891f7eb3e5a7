import { randomUUID } from 'node:crypto';
import { useStack } from '@sluice/testing';
import { startTestManagement } from '../testing/test-management.ts';

// Its own, because a lease here is in the way of every change
const api = useStack((stack) => startTestManagement(stack));

const granted = { name: 'A', type: 'private', permissions: ['token:use'] };
const post = (part: object) => api.current.send('POST', '/applications', { body: { ...granted, ...part } });
const put = (id: string, part: object) =>
  api.current.send('PUT', `/applications/${id}`, { body: { ...granted, ...part } });
const get = async (id: string) => (await api.current.send('GET', `/applications/${id}`)).body;
const proxyId = async (): Promise<string> => (await api.current.proxy()).id;

test('an Application names Proxies, in get, list and PUT; null and a PUT of others take them away', async () => {
  const [one, two] = [await proxyId(), await proxyId()];
  const { status, body } = await post({ proxies: [one, two, one] });
  expect([status, body.proxies]).toEqual([201, [one, two]]);
  expect((await get(body.id)).proxies).toEqual([one, two]);
  expect((await api.current.send('GET', `/applications?id=${body.id}`)).body.data[0].proxies).toEqual([one, two]);
  expect((await put(body.id, {})).body.proxies).toEqual([one, two]);
  expect((await put(body.id, { proxies: [two] })).body.proxies).toEqual([two]);
  expect((await put(body.id, { proxies: null })).body).not.toHaveProperty('proxies');
  expect(await get(body.id)).not.toHaveProperty('proxies');
});

test('the id of a Proxy that is gone stays, also in a PUT, and cannot be named anew', async () => {
  const [gone, left] = [await proxyId(), await proxyId()];
  const { body } = await post({ proxies: [gone, left] });
  await api.current.send('DELETE', `/proxies/${gone}`);
  expect((await get(body.id)).proxies).toEqual([gone, left]);
  expect((await put(body.id, { proxies: [left, gone] })).body.proxies).toEqual([left, gone]);
  expect((await put(body.id, { proxies: [left] })).status).toBe(200);
  expect((await put(body.id, { proxies: [gone] })).status).toBe(400);
});

test.each<[string, () => Promise<object>, string]>([
  ['an unknown id', async () => ({ proxies: [await proxyId(), randomUUID()] }), 'proxies[1]'],
  ["another Tenant's", async () => ({ proxies: [await theirs()] }), 'proxies[0]'],
  ['no id', async () => ({ proxies: ['x'] }), 'proxies[0]'],
  ['an empty list', async () => ({ proxies: [] }), 'proxies'],
  ['more than a hundred', async () => ({ proxies: Array(101).fill(await proxyId()) }), 'proxies'],
])('%s is 400', async (_name, part, path) => {
  const sent = await part();
  const { id } = await api.current.application();
  for (const answer of [await post(sent), await put(id, sent)]) {
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, [path]]);
  }
});

async function theirs(): Promise<string> {
  const { id } = await api.current.proxy({}, { key: api.current.stranger.management_key });
  return id;
}

test.each(['public', 'management'])('a %s Application has none', async (type) => {
  const permissions = [type === 'public' ? 'token:create' : 'proxy:read'];
  const { status, body } = await post({ type, permissions, proxies: [await proxyId()] });
  expect([status, body.errors]).toEqual([400, { proxies: ['may be set for private Applications only'] }]);
});

test('it is set only once every process knows it, and taken away at any time', async () => {
  const { db } = api.current;
  const proxies = [await proxyId()];
  const { body: bound } = await post({ proxies });
  const { body: free } = await post({});
  /** Of a process of the version before. A change that succeeds waits for its end. */
  const beside = async <A>(seconds: number, write: () => Promise<A>): Promise<A> => {
    const expires_at = new Date(Date.now() + seconds * 1000).toISOString();
    const row = { service: 'proxy-gateway', expires_at, mailbox: '[]', holder_id: randomUUID() };
    await db.insertInto('cache_leases').values(row).execute();
    const answer = await write();
    await db.deleteFrom('cache_leases').where('holder_id', '=', row.holder_id).execute();
    return answer;
  };
  for (const write of [() => post({ proxies }), () => put(free.id, { proxies })]) {
    const detail = expect.stringContaining('1 of proxy-gateway');
    expect(await beside(600, write)).toMatchObject({ status: 503, body: { detail } });
  }
  for (const part of [{ proxies }, {}, { proxies: null }]) {
    expect((await beside(1, () => put(bound.id, part))).status).toBe(200);
  }
  expect((await put(free.id, { proxies })).status).toBe(200);
});
