import { randomUUID } from 'node:crypto';
import { useStack } from '@sluice/testing';
import { copiesOfPage } from '../reserve-page.ts';
import { isoDate, shareTestManagement, startTestManagement, uuidText } from '../testing/test-management.ts';
import { listProxies } from './proxy.queries.ts';

const api = useStack(() => shareTestManagement());
const code = 'module.exports = async (req) => ({ body: req.args.body })';
const minimal = { name: 'P', destination_url: 'https://example.com/in' };
const full = {
  ...minimal,
  destination_url: 'https://Example.com:443/a/../b?x=%7e&y={z}',
  request_transform: { code },
  response_transform: { code: `${code} // response` },
  configuration: { API_SECRET: 'configured-value' },
  require_auth: false,
};

const post = (body: unknown) => api.current.send('POST', '/proxies', { body });
const put = (id: string, body: unknown) => api.current.send('PUT', `/proxies/${id}`, { body });
const get = async (id: string) => (await api.current.send('GET', `/proxies/${id}`)).body;
const mergePatchType = { 'Content-Type': 'application/merge-patch+json' };
const patch = (id: string, body: unknown, headers: Record<string, string> = mergePatchType) =>
  api.current.send('PATCH', `/proxies/${id}`, { body, headers });

test('a list reserves memory for what it reads, before it reads', async () => {
  const { db, anotherTenant, proxy } = api.current;
  const { tenant_id, management_key } = await anotherTenant('large');
  const large = `${code} // ${'x'.repeat(100_000)}`;
  await proxy({ request_transform: { code: large } }, { key: management_key });
  const held: number[] = [];
  const hold = (bytes: number) => void held.push(bytes);
  await listProxies(db, tenant_id, { ids: [], name: undefined }, { page: 1, size: 20, hold });
  expect(held).toEqual([expect.any(Number)]);
  expect(held[0]).toBeGreaterThan(copiesOfPage * large.length);
  const refused = async () => {
    throw new Error('no room');
  };
  const asked = listProxies(db, tenant_id, { ids: [], name: undefined }, { page: 1, size: 20, hold: refused });
  await expect(asked).rejects.toThrow('no room');
});

describe('create', () => {
  test('answers 201 with the whole Proxy and its Location; unset members are left out', async () => {
    const { tenant } = api.current;
    const { status, headers, body } = await post(minimal);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: uuidText,
      tenant_id: tenant.tenant_id,
      ...minimal,
      key: expect.stringMatching(/^[0-9A-Za-z]{32}$/),
      require_auth: true,
      created_by: tenant.application_id,
      created_at: isoDate,
    });
    expect(headers.get('location')).toBe(`/proxies/${body.id}`);
  });

  test('echoes every member as it was sent; application comes back as application_id', async () => {
    const { id } = await api.current.application();
    const { status, body } = await post({ ...full, application: { id } });
    expect(status).toBe(201);
    expect(body).toMatchObject({ ...full, application_id: id });
    expect(body).not.toHaveProperty('application');
    expect(await get(body.id)).toEqual(body);
  });

  test.each(['request_trnsform', 'requestTransform', 'response_transfrom', 'configuraton', 'requir_auth'])(
    '%s is 400 and says what was meant, because such a Proxy would fail open',
    async (misspelt) => {
      for (const value of [null, { code: 'module.exports = async (req) => ({})' }]) {
        const { status, body } = await post({ ...minimal, [misspelt]: value });
        expect({ status, errors: body.errors }).toEqual({
          status: 400,
          errors: {
            [misspelt]: [
              expect.stringMatching(/did you mean (request_transform|response_transform|configuration|require_auth)\?/),
            ],
          },
        });
      }
    },
  );

  test.each([
    ['respnse_transform', 'response_transform'],
    ['requre_auth', 'require_auth'],
    ['configuraton', 'configuration'],
    ['aplication', 'application'],
  ])('a patch of %s is 400 and says %s, and changes nothing', async (misspelt, meant) => {
    const made = await api.current.proxy();
    for (const value of [null, { code: 'module.exports = async (req) => ({})' }]) {
      const { status, body } = await patch(made.id, { [misspelt]: value });
      expect({ status, errors: body.errors }).toEqual({
        status: 400,
        errors: { [misspelt]: [`is not a known field; did you mean ${meant}?`] },
      });
    }
    expect(await get(made.id)).toEqual(made);
  });

  test('null equals absent, read-only and unknown members are ignored', async () => {
    const nulls = {
      request_transform: null,
      response_transform: null,
      application: null,
      configuration: null,
      require_auth: null,
    };
    const { status, body } = await post({
      ...minimal,
      ...nulls,
      key: 'mine',
      id: randomUUID(),
      application_id: 'x',
      foo: 1,
    });
    expect({ status, require_auth: body.require_auth }).toEqual({ status: 201, require_auth: true });
    expect(body.key).toMatch(/^[0-9A-Za-z]{32}$/);
    for (const member of [...Object.keys(nulls), 'application_id', 'foo']) {
      if (member !== 'require_auth') expect(body).not.toHaveProperty(member);
    }
  });

  test.each(['__proto__', 'constructor', '', 'ä'])('%j is a configuration name like any other', async (name) => {
    const { status, body } = await post(
      `{"name":"P","destination_url":"https://a.example","configuration":{"${name}":"v"}}`,
    );
    expect(status).toBe(201);
    expect(Object.entries((await get(body.id)).configuration)).toEqual([[name, 'v']]);
  });

  test.each(['public', 'private'])('may name a %s Application', async (type) => {
    const { id } = await api.current.application({ type, permissions: ['token:create'] });
    expect(await post({ ...minimal, application: { id } })).toMatchObject({
      status: 201,
      body: { application_id: id },
    });
  });
});

const faultyDefinitions: [string, object][] = [
  ['name', { name: null }],
  ['name', { name: '' }],
  ['name', { name: '😀'.repeat(201) }],
  ['name', { name: ['a'] }],
  ['destination_url', { destination_url: null }],
  ['destination_url', { destination_url: 'example.com' }],
  ['destination_url', { destination_url: 'ftp://example.com' }],
  ['destination_url', { destination_url: 'https://user:pw@example.com' }],
  ['destination_url', { destination_url: 'https://example.com/#part' }],
  ['destination_url', { destination_url: 'https://169.254.169.254/' }],
  ['destination_url', { destination_url: 'https://10.0.0.1/' }],
  ['destination_url', { destination_url: `https://example.com/${'x'.repeat(2048)}` }],
  ['request_transform', { request_transform: code }],
  ['request_transform.code', { request_transform: { code: '' } }],
  ['request_transform.code', { request_transform: { code: 1 } }],
  ['request_transform.more', { request_transform: { code, more: 1 } }],
  ['response_transform.code', { response_transform: { code: ' '.repeat(256 * 1024 + 1) } }],
  ['application', { application: randomUUID() }],
  ['application.id', { application: { id: null } }],
  ['application.id', { application: { id: 'x' } }],
  ['application.id', { application: { id: randomUUID() } }],
  ['configuration', { configuration: 'x' }],
  ['configuration.a', { configuration: { a: 1 } }],
  ['configuration.a', { configuration: { a: 'x'.repeat(50_001) } }],
  ['configuration', { configuration: { ['n'.repeat(201)]: 'x' } }],
  ['configuration', { configuration: { a: 'x'.repeat(40_000), b: 'x'.repeat(30_000) } }],
  ['configuration.a', { configuration: { a: 'x\0' } }],
  ['require_auth', { require_auth: 'true' }],
  ['require_auth', { require_auth: 0 }],
];

test.each(faultyDefinitions)('400 for %s in create: %.80j', async (path, part) => {
  const { status, body } = await post({ ...minimal, ...part });
  expect({ status, paths: Object.keys(body.errors) }).toEqual({ status: 400, paths: [path] });
});

test.each(faultyDefinitions)('400 for %s in full update: %.80j', async (path, part) => {
  const { id } = await api.current.proxy();
  const { status, body } = await put(id, { ...minimal, ...part });
  expect({ status, paths: Object.keys(body.errors) }).toEqual({ status: 400, paths: [path] });
});

test.each(faultyDefinitions)('400 for %s in patch: %.80j; nothing changes', async (path, part) => {
  const created = await api.current.proxy();
  const { status, body } = await patch(created.id, part);
  expect({ status, paths: Object.keys(body.errors) }).toEqual({ status: 400, paths: [path] });
  expect(await get(created.id)).toEqual(created);
});

test('the refusal of a destination names the setting that decides', async () => {
  const { body } = await post({ ...minimal, destination_url: 'https://10.0.0.1/' });
  expect(body.errors.destination_url[0]).toContain('DESTINATION_ALLOW');
});

test.each(['management Application', "stranger's Application"])('400 for a %s as application', async (kind) => {
  const { application, stranger } = api.current;
  const { id } = await (kind === 'management Application'
    ? application({ type: 'management', permissions: ['proxy:read'] })
    : application({}, { key: stranger.management_key }));
  const { status, body } = await post({ ...minimal, application: { id } });
  expect({ status, errors: body.errors }).toEqual({
    status: 400,
    errors: { 'application.id': ['must be the id of a private or public Application'] },
  });
});

describe('transforms that do not compile are 422 with line and column', () => {
  const broken = { request_transform: { code: 'const a = 1;\nmodule.exports = async ( => {}' } };

  test.each(['create', 'update', 'patch'])('%s', async (operation) => {
    const created = await api.current.proxy();
    const { status, body } = await (operation === 'create'
      ? post({ ...minimal, ...broken })
      : operation === 'update'
        ? put(created.id, { ...minimal, ...broken })
        : patch(created.id, broken));
    expect(status).toBe(422);
    expect(body.errors['request_transform.code'][0]).toMatch(/\(line 2, column \d+\)$/);
    expect(await get(created.id)).toEqual(created);
  });

  test('400 comes before 404, and 404 before 422', async () => {
    const id = randomUUID();
    expect((await put(id, { ...minimal, ...broken, destination_url: 'x' })).status).toBe(400);
    expect((await put(id, { ...minimal, ...broken })).status).toBe(404);
    expect((await patch(id, broken)).status).toBe(404);
  });

  test.each([
    ['deep nesting', '['.repeat(200_000)],
    ['deep blocks', '{'.repeat(200_000)],
    ['deep calls', `f(${'f('.repeat(100_000)}`],
    ['a long chain', `a${'?.a'.repeat(60_000)}`],
    ['a NUL character', 'a = "\0"'],
    ['an end of the wrapper', '}); process.exit(1); (() => {'],
  ])('%s never gives 500', async (_name, hostile) => {
    const { status } = await post({ ...minimal, request_transform: { code: hostile } });
    expect([201, 400, 422]).toContain(status);
  });
});

describe('full update', () => {
  test('replaces everything but id, key and authorship', async () => {
    const { application, tenant, proxy } = api.current;
    const { id } = await application();
    const created = await proxy({ ...full, application: { id } });
    const { status, body } = await put(created.id, { name: 'N', destination_url: 'http://127.0.0.1:9/x' });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: created.id,
      tenant_id: tenant.tenant_id,
      key: created.key,
      name: 'N',
      destination_url: 'http://127.0.0.1:9/x',
      require_auth: true,
      created_by: created.created_by,
      created_at: created.created_at,
      modified_by: tenant.application_id,
      modified_at: isoDate,
    });
    expect(await get(created.id)).toEqual(body);
  });
});

describe('patch (RFC 7386)', () => {
  test('answers 204 without a body and changes only what it names', async () => {
    const created = await api.current.proxy(full);
    const { status, body } = await patch(created.id, { name: 'Patched' });
    expect({ status, body }).toEqual({ status: 204, body: '' });
    expect(await get(created.id)).toEqual({
      ...created,
      name: 'Patched',
      modified_by: api.current.tenant.application_id,
      modified_at: isoDate,
    });
  });

  describe('the Application', () => {
    async function applicationAfter(method: 'PUT' | 'PATCH', members: (ids: string[]) => object) {
      const { application, proxy, send } = api.current;
      const ids = [(await application()).id, (await application()).id];
      const { id } = await proxy({ ...minimal, application: { id: ids[0] } });
      const body = { ...(method === 'PUT' && minimal), ...members(ids) };
      const answer = await send(method, `/proxies/${id}`, { body, headers: method === 'PATCH' ? mergePatchType : {} });
      expect(answer.status).toBe(method === 'PUT' ? 200 : 204);
      return ids.indexOf((await get(id)).application_id);
    }

    const both = ['PUT', 'PATCH'] as const;
    test.each(both)('%s takes application_id where application is not a member', async (method) => {
      expect(await applicationAfter(method, ([, second]) => ({ application_id: second }))).toBe(1);
      expect(await applicationAfter(method, () => ({ application_id: null }))).toBe(-1);
    });

    test.each(both)('%s goes by application where both are members, null included', async (method) => {
      const written = (application: object | null, ids: string[]) => ({ application, application_id: ids[0] });
      expect(await applicationAfter(method, (ids) => written({ id: ids[1] }, ids))).toBe(1);
      expect(await applicationAfter(method, (ids) => written(null, ids))).toBe(-1);
    });

    test('is kept by get, change, PUT, and by a PATCH that names neither', async () => {
      const { application, proxy, send } = api.current;
      const { id: applicationId } = await application();
      const { id } = await proxy({ ...minimal, application: { id: applicationId } });
      const read = (await send('GET', `/proxies/${id}`)).body;
      const { body } = await send('PUT', `/proxies/${id}`, { body: { ...read, name: 'Changed' } });
      expect(body).toMatchObject({ name: 'Changed', application_id: applicationId });
      expect(await applicationAfter('PATCH', () => ({ name: 'Changed' }))).toBe(0);
    });

    test('is none after a PUT that names neither', async () => {
      expect(await applicationAfter('PUT', () => ({}))).toBe(-1);
    });

    test.each([['x'], [1], [{}]])('400 for %j as application_id', async (application_id) => {
      const { id } = await api.current.proxy(minimal);
      const { status, body } = await api.current.send('PUT', `/proxies/${id}`, {
        body: { ...minimal, application_id },
      });
      expect({ status, paths: Object.keys(body.errors) }).toEqual({ status: 400, paths: ['application_id'] });
    });
  });

  test('null removes optional members; require_auth falls back to true', async () => {
    const { application, proxy } = api.current;
    const created = await proxy({ ...full, application: { id: (await application()).id } });
    const nulls = {
      request_transform: null,
      response_transform: null,
      application: null,
      configuration: null,
      require_auth: null,
    };
    expect((await patch(created.id, nulls)).status).toBe(204);
    const changed = await get(created.id);
    expect(changed.require_auth).toBe(true);
    for (const member of ['request_transform', 'response_transform', 'application_id', 'configuration']) {
      expect(changed).not.toHaveProperty(member);
    }
  });

  test('configuration merges name by name', async () => {
    const { id } = await api.current.proxy({ configuration: { keep: '1', change: '2', drop: '3' } });
    expect((await patch(id, { configuration: { change: 'two', drop: null, add: '4' } })).status).toBe(204);
    expect((await get(id)).configuration).toEqual({ keep: '1', change: 'two', add: '4' });
  });

  test('a member __proto__ is a configuration name and reaches no prototype', async () => {
    const { id } = await api.current.proxy();
    expect((await patch(id, '{"configuration":{"__proto__":"v"},"__proto__":{"name":"x"}}')).status).toBe(204);
    expect(Object.entries((await get(id)).configuration)).toEqual([['__proto__', 'v']]);
    expect((await get(id)).name).toBe('P');
  });

  test('{} is 204, unknown and read-only members are ignored', async () => {
    const created = await api.current.proxy();
    expect((await patch(created.id, {})).status).toBe(204);
    expect((await patch(created.id, { key: 'x', id: 'y', tenant_id: null, created_at: 5, foo: {} })).status).toBe(204);
    expect(await get(created.id)).toMatchObject(created);
  });

  test.each([
    ['', 400],
    ['null', 400],
    ['[]', 400],
    ['"x"', 400],
    ['{', 400],
  ])('the body %j is %i', async (body, expected) => {
    const { id } = await api.current.proxy();
    expect((await patch(id, body)).status).toBe(expected);
  });

  test.each([
    ['application/merge-patch+json; charset=utf-8', 204],
    ['Application/Merge-Patch+JSON', 204],
    ['application/json', 415],
    ['application/json-patch+json', 415],
    ['text/plain', 415],
    ['', 415],
  ])('the content type %j is %i', async (type, expected) => {
    const { id } = await api.current.proxy();
    expect((await patch(id, { name: 'x' }, { 'Content-Type': type })).status).toBe(expected);
  });

  test('patches at the same time all count', async () => {
    const { id } = await api.current.proxy();
    const names = Array.from({ length: 8 }, (_, i) => `name-${i}`);
    const answers = await Promise.all(names.map((name) => patch(id, { configuration: { [name]: 'v' } })));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 204));
    expect(Object.keys((await get(id)).configuration).sort()).toEqual(names);
  });

  test('a Proxy whose Application is due can be patched; the Application is let go', async () => {
    const { application, db, proxy } = api.current;
    const { id: applicationId } = await application({ expires_at: '2999-01-01' });
    const { id } = await proxy({ application: { id: applicationId } });
    const expires_at = new Date(0).toISOString();
    await db.updateTable('applications').set({ expires_at }).where('id', '=', applicationId).execute();
    expect((await patch(id, { name: 'still fine' })).status).toBe(204);
    expect(await get(id)).not.toHaveProperty('application_id');
  });
});

describe('delete', () => {
  test('answers 204 without a body; the Proxy is gone', async () => {
    const { send, proxy } = api.current;
    const { id } = await proxy();
    const { status, body } = await send('DELETE', `/proxies/${id}`);
    expect({ status, body }).toEqual({ status: 204, body: '' });
    for (const [method, options] of [
      ['GET', {}],
      ['DELETE', {}],
      ['PUT', { body: minimal }],
    ] as const) {
      expect((await send(method, `/proxies/${id}`, options)).status).toBe(404);
    }
    expect((await patch(id, {})).status).toBe(404);
  });
});

test('the proxy key and the configuration are stored encrypted', async () => {
  const { db, proxy } = api.current;
  const { id, key } = await proxy({ configuration: { SECRET: 'value-to-hide' } });
  const row = await db.selectFrom('proxies').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const stored = [row.key_ciphertext, row.configuration_ciphertext].map((bytes) => bytes?.toString('latin1')).join();
  expect(stored.length).toBeGreaterThan(40);
  expect(JSON.stringify(row)).not.toContain(key);
  expect(stored).not.toContain('value-to-hide');
  expect(stored).not.toContain('SECRET');
});

test('a patch needs no second connection while it holds one', async () => {
  await using stack = new AsyncDisposableStack();
  const { send, proxy } = await startTestManagement(stack, { DATABASE_POOL_SIZE: '1' });
  const created = await proxy();
  const answers = await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      send('PATCH', `/proxies/${created.id}`, { body: { configuration: { [name]: 'v' } }, headers: mergePatchType }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
});
