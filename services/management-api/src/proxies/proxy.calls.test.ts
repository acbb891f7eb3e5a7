import { randomUUID } from 'node:crypto';
import { pathNameForm } from '@sluice/database';
import { useStack } from '@sluice/testing';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const minimal = { name: 'P', destination_url: 'https://example.com' };
const mergePatch = { 'Content-Type': 'application/merge-patch+json' };
const post = (part: object, options = {}) =>
  api.current.send('POST', '/proxies', { body: { ...minimal, ...part }, ...options });
const put = (id: string, part: object) => api.current.send('PUT', `/proxies/${id}`, { body: { ...minimal, ...part } });
const patch = (id: string, body: object) => api.current.send('PATCH', `/proxies/${id}`, { body, headers: mergePatch });
const newName = () => `p-${randomUUID()}`;

describe.each<[path: string, part: object]>([
  ...['', '-a', 'a-', 'A', 'a_b', 'a.b', 'ü', 'a'.repeat(64)].map((path_name): [string, object] => [
    'path_name',
    { path_name },
  ]),
  ['accept_key_as', { accept_key_as: 'bearer' }],
  ['accept_key_as[0]', { accept_key_as: ['cookie'] }],
  ['accept_key_as', { accept_key_as: Array(21).fill('basic') }],
  ['allowed_methods', { allowed_methods: [] }],
  ['allowed_methods', { allowed_methods: Array(51).fill('GET') }],
  ['allowed_methods[0]', { allowed_methods: ['GET POST'] }],
  ['allowed_methods[0]', { allowed_methods: [''] }],
  ['allowed_paths', { allowed_paths: [] }],
  ['allowed_paths', { allowed_paths: Array(51).fill('/a') }],
  ['allowed_paths[1]', { allowed_paths: ['/a', 'b'] }],
  ['allowed_paths[0]', { allowed_paths: ['/a/../b'] }],
  ['allowed_paths[0]', { allowed_paths: ['/*/b'] }],
  ...['on', 'Redact', '', 1, false, ['off']].map((response_guard): [string, object] => [
    'response_guard',
    { response_guard },
  ]),
])('400 for %s: %.60j', (path, part) => {
  test('in create, PUT and PATCH', async () => {
    const { id } = await api.current.proxy();
    for (const { status, body } of [await post(part), await put(id, part), await patch(id, part)]) {
      expect([status, Object.keys(body.errors)]).toEqual([400, [path]]);
    }
  });
});

test('the fault of a path_name is a sentence', async () => {
  const { body } = await post({ path_name: '-a' });
  expect(body.errors).toEqual({ path_name: [pathNameForm] });
});

test.each(['a', '7', 'a-b', 'a'.repeat(63)])('the name %s may be taken', async (path_name) => {
  const { status, body } = await post({ path_name });
  expect([status, body.path_name]).toEqual([201, path_name]);
  await api.current.send('DELETE', `/proxies/${body.id}`);
});

describe('a path_name', () => {
  test('that another Proxy has is 409 in create, PUT, PATCH and restore; nothing changes', async () => {
    const path_name = newName();
    const former = await api.current.proxy({ path_name });
    await patch(former.id, { path_name: null });
    await api.current.proxy({ path_name });
    const other = await api.current.proxy();
    for (const answer of [
      await post({ path_name }),
      await put(other.id, { path_name }),
      await patch(other.id, { path_name }),
      await api.current.send('POST', `/proxies/${former.id}/versions/1/restore`),
    ]) {
      expect(answer).toMatchObject({ status: 409, body: { detail: `Another Proxy has the path_name ${path_name}` } });
    }
    expect((await api.current.send('GET', `/proxies/${other.id}`)).body).toEqual(other);
  });

  test('is free for another Tenant, and again once its Proxy is gone', async () => {
    const path_name = newName();
    const { id } = await api.current.proxy({ path_name });
    expect((await post({ path_name }, { key: api.current.stranger.management_key })).status).toBe(201);
    await api.current.send('DELETE', `/proxies/${id}`);
    expect((await post({ path_name })).status).toBe(201);
  });

  test('stays free for one of several who ask for it at once', async () => {
    const path_name = newName();
    const statuses = (await Promise.all([1, 2, 3, 4].map(() => post({ path_name })))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 409, 409, 409]);
  });

  test('filters the list, of the own Tenant only', async () => {
    const path_name = newName();
    const made = await api.current.proxy({ path_name });
    const list = async (name: string, options = {}) =>
      (await api.current.send('GET', `/proxies?path_name=${name}`, options)).body;
    expect(await list(path_name)).toMatchObject({ pagination: { total_items: 1 }, data: [made] });
    expect((await list(path_name, { key: api.current.stranger.management_key })).data).toEqual([]);
    expect((await list(path_name.slice(0, -1))).data).toEqual([]);
  });
});
