import { randomUUID } from 'node:crypto';
import { useStack } from '@sluice/testing';
import { copiesOfPage } from '../reserve-page.ts';
import { isoDate, shareTestManagement, uuidText } from '../testing/test-management.ts';
import { listApplications } from './application.queries.ts';

const api = useStack(() => shareTestManagement());
const future = '2999-01-02T03:04:05.678Z';
const rule = { priority: 1, container: '/pci/high/', transform: 'reveal', permissions: ['token:read'] };
const privateApplication = { name: 'Backend', type: 'private', permissions: ['token:read'] };

const post = (body: unknown) => api.current.send('POST', '/applications', { body });
const put = (id: string, body: unknown) => api.current.send('PUT', `/applications/${id}`, { body });
const get = (id: string) => api.current.send('GET', `/applications/${id}`);

function withoutKey({ key: _, ...application }: Record<string, unknown>) {
  return application;
}

test('a list reserves memory for what it reads, before it reads', async () => {
  const { db, anotherTenant, application } = api.current;
  const { tenant_id, management_key } = await anotherTenant('large');
  const rules = Array.from({ length: 50 }, () => ({ ...rule, description: 'x'.repeat(2000) }));
  await application({ rules }, { key: management_key });
  const held: number[] = [];
  const page = { page: 1, size: 20 };
  await listApplications(db, tenant_id, { ids: [] }, { ...page, hold: (bytes) => void held.push(bytes) });
  expect(held).toEqual([expect.any(Number)]);
  expect(held[0]).toBeGreaterThan(copiesOfPage * 50 * 2000);
  const refuse = async () => {
    throw new Error('no room');
  };
  await expect(listApplications(db, tenant_id, { ids: [] }, { ...page, hold: refuse })).rejects.toThrow('no room');
});

describe('create', () => {
  test('answers 201 with the whole Application, its key and its Location; unset members are left out', async () => {
    const { tenant } = api.current;
    const { status, headers, body } = await post(privateApplication);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: uuidText,
      tenant_id: tenant.tenant_id,
      name: 'Backend',
      type: 'private',
      permissions: ['token:read'],
      rules: [],
      key: expect.stringMatching(/^svc_test_prv_[0-9A-Za-z]{49}$/),
      created_by: tenant.application_id,
      created_at: isoDate,
    });
    expect(headers.get('location')).toBe(`/applications/${body.id}`);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(Math.abs(Date.parse(body.created_at) - Date.now())).toBeLessThan(10_000);
  });

  test.each([
    ['private', 'token:use', 'prv'],
    ['public', 'token:create', 'pub'],
    ['management', 'proxy:read', 'mgt'],
  ])('a %s Application may hold %s, and its key says so', async (type, permission, kind) => {
    const { status, body } = await post({ name: 'A', type, permissions: [permission] });
    expect({ status, kind: body.key.split('_')[2] }).toEqual({ status: 201, kind });
  });

  test('rules are answered as they were sent, permissions always as an array', async () => {
    const rules = [
      { ...rule, description: 'Cards', container: 'a/b' },
      { ...rule, priority: 2 },
    ];
    const { status, body } = await post({ name: 'A', type: 'private', rules });
    expect({ status, rules: body.rules, permissions: body.permissions }).toEqual({
      status: 201,
      rules,
      permissions: [],
    });
  });

  test('null equals absent, also inside rules', async () => {
    const nullRule = { ...rule, description: null, conditions: null };
    const { status, body } = await post({
      ...privateApplication,
      permissions: null,
      rules: [nullRule],
      expires_at: null,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ permissions: [], rules: [rule] });
    expect(body).not.toHaveProperty('expires_at');
  });

  test.each([[[]], [null]])('a rule with a container may have conditions that are %j', async (conditions) => {
    const { status, body } = await post({ ...privateApplication, rules: [{ ...rule, conditions }] });
    expect({ status, rules: body.rules }).toMatchObject({ status: 201, rules: [rule] });
  });

  test('members that are unknown or read-only are ignored', async () => {
    const { status, body } = await post({
      ...privateApplication,
      id: randomUUID(),
      tenant_id: randomUUID(),
      key: 'mine',
      created_by: randomUUID(),
      foo: { bar: 1 },
    });
    expect({ status, tenant_id: body.tenant_id }).toEqual({ status: 201, tenant_id: api.current.tenant.tenant_id });
    expect(body.key).toMatch(/^svc_test_prv_/);
    expect(body).not.toHaveProperty('foo');
  });

  test('duplicate permissions are dropped, flat and in rules', async () => {
    const twice = ['token:read', 'token:read', 'token:use', 'token:read'];
    const { body } = await post({
      ...privateApplication,
      permissions: twice,
      rules: [{ ...rule, permissions: twice }],
    });
    expect(body.permissions).toEqual(['token:read', 'token:use']);
    expect(body.rules[0].permissions).toEqual(['token:read', 'token:use']);
  });

  test('a name is counted in code points: 200 emoji pass, 201 do not', async () => {
    expect(await post({ ...privateApplication, name: '😀'.repeat(200) })).toMatchObject({ status: 201 });
    expect(await post({ ...privateApplication, name: '😀'.repeat(201) })).toMatchObject({
      status: 400,
      body: { errors: { name: [expect.any(String)] } },
    });
  });

  test.each([
    ['2999-01-02T03:04:05.678Z', '2999-01-02T03:04:05.678Z'],
    ['2999-01-02T03:04:05+02:00', '2999-01-02T01:04:05.000Z'],
    ['2999-01-02T03:04:05', '2999-01-02T03:04:05.000Z'],
    ['2999-01-02', '2999-01-02T00:00:00.000Z'],
    ['2999-01-02T03:04:05.1234567Z', '2999-01-02T03:04:05.123Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('expires_at %s is answered as %s', async (sent, answered) => {
    const { status, body } = await post({ ...privateApplication, expires_at: sent });
    expect({ status, expires_at: body.expires_at }).toEqual({ status: 201, expires_at: answered });
  });

  test('what is granted need not be held by the one who grants it', async () => {
    const key = await api.current.keyWith('application:create');
    const { status } = await api.current.send('POST', '/applications', { key, body: privateApplication });
    expect(status).toBe(201);
  });
});

const faultyBodies: [string, object][] = [
  ['name', { name: undefined }],
  ['name', { name: null }],
  ['name', { name: '' }],
  ['name', { name: 5 }],
  ['name', { name: 'x\0' }],
  ['name', { name: '\ud800' }],
  ['permissions', { permissions: [] }],
  ['permissions', { permissions: null, rules: null }],
  ['permissions', { permissions: 'token:read' }],
  ['permissions', { permissions: { 0: 'token:read' } }],
  ['permissions[0]', { permissions: [1] }],
  ['permissions[0]', { permissions: ['no:such'] }],
  ['permissions[1]', { permissions: ['token:read', 'proxy:read'] }],
  ['rules', { rules: {} }],
  ['rules[0]', { rules: [null] }],
  ['rules[0].priority', { rules: [{ ...rule, priority: 0 }] }],
  ['rules[0].priority', { rules: [{ ...rule, priority: 1.5 }] }],
  ['rules[0].priority', { rules: [{ ...rule, priority: '1' }] }],
  ['rules[0].priority', { rules: [{ ...rule, priority: undefined }] }],
  ['rules[0].priority', { rules: [{ ...rule, priority: 1e300 }] }],
  ['rules[0].transform', { rules: [{ ...rule, transform: 'show' }] }],
  ['rules[0].transform', { rules: [{ ...rule, transform: null }] }],
  ['rules[0].permissions', { rules: [{ ...rule, permissions: undefined }] }],
  ['rules[0].permissions[0]', { rules: [{ ...rule, permissions: ['proxy:read'] }] }],
  ['rules[0].container', { rules: [{ ...rule, container: undefined }] }],
  ['rules[0].container', { rules: [{ ...rule, container: null }] }],
  ['rules[0].container', { rules: [{ ...rule, container: '/a//b/' }] }],
  ['rules[0].container', { rules: [{ ...rule, container: '/a b/' }] }],
  ['rules[0].container', { rules: [{ ...rule, container: '/../' }] }],
  ['rules[0].extra', { rules: [{ ...rule, extra: true }] }],
  ['rules[0].conditions', { rules: [{ ...rule, conditions: [{ attribute: 'id', operator: 'equals', value: 'x' }] }] }],
  [
    'rules[0].conditions',
    { rules: [{ ...rule, container: undefined, conditions: [{ attribute: 'id', operator: 'equals', value: 'x' }] }] },
  ],
  ['rules[0].conditions[0].attribute', { rules: [{ ...rule, conditions: [{ operator: 'equals', value: 'x' }] }] }],
  [
    'rules[0].conditions[0].more',
    { rules: [{ ...rule, conditions: [{ attribute: 'id', operator: 'equals', value: 'x', more: 1 }] }] },
  ],
];

const faultyCreations: [string, object][] = [
  ...faultyBodies,
  ['type', { type: undefined }],
  ['type', { type: null }],
  ['type', { type: 'Private' }],
  ['expires_at', { expires_at: 'tomorrow' }],
  ['expires_at', { expires_at: '2999-02-31' }],
  ['expires_at', { expires_at: 32503680000 }],
  ['expires_at', { expires_at: '2001-01-01T00:00:00Z' }],
  ['expires_at', { expires_at: '9999-12-31T23:59:59-01:00' }],
  ['expires_at', { expires_at: '' }],
];

test.each(faultyCreations)('create answers 400 for %s in %j and creates nothing', async (path, part) => {
  const before = await countRows();
  const { status, headers, body } = await post({ ...privateApplication, ...part });
  expect({ status, type: headers.get('content-type')?.split(';')[0] }).toEqual({
    status: 400,
    type: 'application/problem+json',
  });
  expect(body).toMatchObject({ title: 'One or more validation errors occurred.', status: 400 });
  expect(Object.keys(body.errors)).toContain(path);
  expect(await countRows()).toBe(before);
});

test('every fault of a body is named at once', async () => {
  const { body } = await post({ type: 'x', permissions: 'y', rules: [{}] });
  expect(Object.keys(body.errors).sort()).toEqual(
    ['name', 'permissions', 'rules[0].permissions', 'rules[0].priority', 'rules[0].transform', 'type'].sort(),
  );
});

test.each(['private', 'public'])('a %s Application needs a container in each rule', async (type) => {
  const { container: _, ...everywhere } = { ...rule, permissions: ['token:create'] };
  const { status, body } = await post({ name: 'A', type, rules: [everywhere] });
  expect({ status, errors: body.errors }).toEqual({
    status: 400,
    errors: { 'rules[0].container': [`is required for ${type} Applications`] },
  });
});

test('a management Application may have a rule without container', async () => {
  const { status } = await post({
    name: 'A',
    type: 'management',
    rules: [{ priority: 1, transform: 'redact', permissions: ['proxy:read'] }],
  });
  expect(status).toBe(201);
});

test.each([
  ['private', 'proxy:read'],
  ['public', 'token:read'],
  ['management', 'token:read'],
])('a %s Application cannot be granted %s, and the refusal names both', async (type, permission) => {
  const { status, body } = await post({ name: 'A', type, permissions: [permission] });
  expect({ status, errors: body.errors }).toEqual({
    status: 400,
    errors: { 'permissions[0]': [`"${permission}" cannot be held by a ${type} Application`] },
  });
});

async function countRows(): Promise<number> {
  const { db, tenant } = api.current;
  const rows = await db.selectFrom('applications').select('id').where('tenant_id', '=', tenant.tenant_id).execute();
  return rows.length;
}

describe('get', () => {
  test('answers what create answered, without the key', async () => {
    const created = await api.current.application({ rules: [rule], expires_at: future });
    const { status, body } = await get(created.id);
    expect(status).toBe(200);
    expect(body).toEqual(withoutKey(created));
  });

  test('an id in capitals is the same id', async () => {
    const { id } = await api.current.application();
    expect(await get(id.toUpperCase())).toMatchObject({ status: 200, body: { id } });
  });

  test('by key answers the Application of the presented key, without the key', async () => {
    const created = await api.current.application({ type: 'management', permissions: ['application:read'] });
    const { status, body } = await api.current.send('GET', '/applications/key', { key: created.key });
    expect(status).toBe(200);
    expect(body).toEqual(withoutKey(created));
  });
});

describe('update', () => {
  test('replaces name, permissions and rules, keeps type, expiry and key, and notes who did it', async () => {
    const { tenant, send } = api.current;
    const created = await api.current.application({
      type: 'management',
      permissions: ['application:read'],
      expires_at: future,
    });
    const grants = { permissions: ['application:read', 'proxy:read'], rules: [] };
    const { status, body } = await put(created.id, { name: 'New', ...grants });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...withoutKey(created),
      name: 'New',
      ...grants,
      modified_by: tenant.application_id,
      modified_at: isoDate,
    });
    expect((await get(created.id)).body).toEqual(body);
    expect(await send('GET', '/applications/key', { key: created.key })).toMatchObject({ status: 200, body });
  });

  test('what get answered can be changed and put back; the type stays what it was', async () => {
    const { id } = await api.current.application({ rules: [rule], expires_at: future });
    const { body } = await get(id);
    const answer = await put(id, { ...body, name: 'Changed', type: 'management', key: 'x' });
    expect(answer).toMatchObject({ status: 200, body: { ...body, name: 'Changed', type: 'private' } });
    expect(answer.body).not.toHaveProperty('key');
  });

  test('members that are left out are emptied', async () => {
    const { id } = await api.current.application({ permissions: ['token:read'], rules: [rule] });
    expect((await put(id, { name: 'A', rules: [rule] })).body).toMatchObject({ permissions: [], rules: [rule] });
    expect((await put(id, { name: 'A', permissions: ['token:use'], rules: null })).body).toMatchObject({
      permissions: ['token:use'],
      rules: [],
    });
  });

  test('grants are judged by the stored type', async () => {
    const { id } = await api.current.application({ type: 'public', permissions: ['token:create'] });
    const { status, body } = await put(id, { name: 'A', type: 'private', permissions: ['token:read'] });
    expect({ status, errors: Object.keys(body.errors) }).toEqual({ status: 400, errors: ['permissions[0]'] });
  });

  test('new permissions hold from the answer on', async () => {
    const key = await api.current.keyWith('application:read');
    const { id } = (await api.current.send('GET', '/applications/key', { key })).body;
    await put(id, { name: 'A', permissions: ['proxy:read'] });
    expect((await api.current.send('GET', '/applications', { key })).status).toBe(403);
    expect((await api.current.send('GET', '/proxies', { key })).status).toBe(200);
  });
});

test.each(faultyBodies)('update answers 400 for %s in %j and changes nothing', async (path, part) => {
  const created = await api.current.application();
  const { status, body } = await put(created.id, { name: 'N', permissions: ['token:read'], ...part });
  expect(status).toBe(400);
  expect(Object.keys(body.errors)).toContain(path);
  expect((await get(created.id)).body).toEqual(withoutKey(created));
});

test('a body that no Application could have is 400 before an unknown id is 404', async () => {
  expect((await put(randomUUID(), { name: 'A', permissions: [] })).status).toBe(400);
  expect((await put(randomUUID(), { name: 'A', permissions: ['token:read'] })).status).toBe(404);
  expect((await put(randomUUID(), { name: 'x'.repeat(201), permissions: ['token:read'] })).status).toBe(400);
});

describe('regenerate', () => {
  test('answers the Application with a new key; the previous one is refused at once', async () => {
    const { send, tenant } = api.current;
    const created = await api.current.application({ type: 'management', permissions: ['application:read'] });
    const { status, body } = await send('POST', `/applications/${created.id}/regenerate`);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...created,
      key: expect.stringMatching(/^svc_test_mgt_[0-9A-Za-z]{49}$/),
      modified_by: tenant.application_id,
      modified_at: isoDate,
    });
    expect(body.key).not.toBe(created.key);
    expect((await send('GET', '/applications/key', { key: created.key })).status).toBe(401);
    expect((await send('GET', '/applications/key', { key: body.key })).status).toBe(200);
  });

  test('ignores a body of any type', async () => {
    const { id } = await api.current.application();
    const options = { body: '<x', headers: { 'Content-Type': 'text/xml' } };
    expect((await api.current.send('POST', `/applications/${id}/regenerate`, options)).status).toBe(200);
  });

  test('two at once leave exactly one key that works', async () => {
    const { send, application } = api.current;
    const { id } = await application({ type: 'management', permissions: ['application:read'] });
    const answers = await Promise.all([1, 2, 3].map(() => send('POST', `/applications/${id}/regenerate`)));
    const statuses = await Promise.all(
      answers.map(async ({ body }) => (await send('GET', '/applications/key', { key: body.key })).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });
});

describe('delete', () => {
  test('answers 204 without a body; the Application and its key are gone', async () => {
    const { send } = api.current;
    const { id, key } = await api.current.application({ type: 'management', permissions: ['application:read'] });
    const { status, body, headers } = await send('DELETE', `/applications/${id}`);
    expect({ status, body, type: headers.get('content-type') }).toEqual({ status: 204, body: '', type: null });
    expect((await get(id)).status).toBe(404);
    expect((await send('GET', '/applications/key', { key })).status).toBe(401);
    expect((await send('DELETE', `/applications/${id}`)).status).toBe(404);
  });

  test('a Proxy that named it answers no application_id any more', async () => {
    const { send, application, proxy } = api.current;
    const { id } = await application();
    const named = await proxy({ application: { id } });
    expect(named.application_id).toBe(id);
    await send('DELETE', `/applications/${id}`);
    const { application_id: _, ...rest } = named;
    expect((await send('GET', `/proxies/${named.id}`)).body).toEqual({ ...rest, former_application_id: id });
  });
});

describe('an Application that is due, its row still there', () => {
  test('is gone everywhere, and not counted', async () => {
    const { db, send, application, proxy } = api.current;
    const body = { name: 'A', permissions: ['application:read'] };
    const { id, key } = await application({ type: 'management', ...body, expires_at: future });
    const named = await application({ expires_at: future });
    const proxied = await proxy({ application: { id: named.id } });
    const before = (await send('GET', '/applications')).body.pagination.total_items;
    expect((await send('GET', '/applications/key', { key })).status).toBe(200);

    await db
      .updateTable('applications')
      .set({ expires_at: new Date(Date.now() - 1000).toISOString() })
      .where('id', 'in', [id, named.id])
      .execute();

    expect((await send('GET', '/applications/key', { key })).status).toBe(401);
    expect((await send('GET', '/permissions', { key })).status).toBe(401);
    expect((await get(id)).status).toBe(404);
    expect((await put(id, body)).status).toBe(404);
    expect((await send('POST', `/applications/${id}/regenerate`)).status).toBe(404);
    expect((await send('DELETE', `/applications/${id}`)).status).toBe(404);
    expect((await send('GET', `/applications?id=${id}`)).body).toMatchObject({
      pagination: { total_items: 0 },
      data: [],
    });
    expect((await send('GET', '/applications')).body.pagination.total_items).toBe(before - 2);
    expect((await send('GET', `/proxies/${proxied.id}`)).body).not.toHaveProperty('application_id');
    const naming = { name: 'P', destination_url: 'https://example.com', application: { id: named.id } };
    expect((await send('POST', '/proxies', { body: naming })).body.errors).toHaveProperty(['application.id']);
    expect((await db.selectFrom('applications').select('id').where('id', '=', id).execute()).length).toBe(1);
  });
});

describe('list by type', () => {
  test('only those of the type, with their own total; with ids both must hold', async () => {
    const { send, anotherTenant } = api.current;
    const { management_key: key, application_id } = await anotherTenant('by type');
    const created = await send('POST', '/applications', { key, body: privateApplication });
    const list = async (query: string) => {
      const { body } = await send('GET', `/applications?${query}`, { key });
      return { total: body.pagination.total_items, ids: body.data.map(({ id }: { id: string }) => id) };
    };
    expect(await list('type=private')).toEqual({ total: 1, ids: [created.body.id] });
    expect(await list('type=management')).toEqual({ total: 1, ids: [application_id] });
    expect(await list('type=public')).toEqual({ total: 0, ids: [] });
    expect(await list(`type=private&id=${application_id}`)).toEqual({ total: 0, ids: [] });
    expect((await list('type=')).total).toBe(2);
  });

  test.each(['nothing', 'Private', 'private,public'])('an unknown type is 400: %s', async (type) => {
    expect((await api.current.send('GET', `/applications?type=${type}`)).status).toBe(400);
  });
});
