import type { Change } from '@sluice/cache-coherence';
import {
  type Answer,
  type CallOptions,
  call,
  eventually,
  openRedisDoor,
  slow,
  testRedisUrl,
  useStack,
} from '@sluice/testing';
import { Redis } from 'ioredis';
import { operations } from '../app.ts';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack(async (stack) => {
  const management = await startTestManagement(stack);
  const subscriber = new Redis(testRedisUrl());
  stack.defer(() => subscriber.disconnect());
  const changes: Change[] = []; // includes changes of other test files
  subscriber.on('message', (_channel, text) => changes.push(JSON.parse(text)));
  await subscriber.subscribe('{sluice}:changes');
  return { ...management, changes };
});

async function announcedOf(id: string, change: () => Promise<unknown>): Promise<(readonly string[])[]> {
  await everythingSoFar(); // announcements of the test's preparation do not count
  const before = api.current.changes.length;
  await change();
  await everythingSoFar();
  return api.current.changes.slice(before).flatMap(({ tags }) => (tags.some((tag) => tag.includes(id)) ? [tags] : []));
}

/** Publishes a message of its own, which arrives after everything that was published before. */
async function everythingSoFar(): Promise<void> {
  const marker = new Redis(testRedisUrl());
  const mark = String(Math.random());
  await marker.publish('{sluice}:changes', JSON.stringify({ id: mark, writerId: mark, tags: [mark] }));
  await marker.quit();
  await eventually('the marker', () => api.current.changes.some((seen) => seen.id === mark));
}

const patchHeaders = { 'Content-Type': 'application/merge-patch+json' };
const definition = { name: 'P', destination_url: 'https://example.com' };

test('a Proxy that gets a path_name drops what was remembered as absent, and by other changes it does not', async () => {
  const { send, proxy } = api.current;
  const { id } = await proxy();
  const patch = (body: object) =>
    announcedOf(id, () => send('PATCH', `/proxies/${id}`, { body, headers: patchHeaders }));
  expect(await patch({ path_name: 'announced' })).toEqual([[`proxy:${id}`, 'absent']]);
  expect(await patch({ name: 'N' })).toEqual([[`proxy:${id}`]]);
});

test.each([
  ['updating an Application', 'application', 'PUT', '', { body: { name: 'A', permissions: ['token:use'] } }],
  ['regenerating a key', 'application', 'POST', '/regenerate', {}],
  ['deleting an Application', 'application', 'DELETE', '', {}],
  ['updating a Proxy', 'proxy', 'PUT', '', { body: definition }],
  ['patching a Proxy', 'proxy', 'PATCH', '', { body: { name: 'N' }, headers: patchHeaders }],
  ['deleting a Proxy', 'proxy', 'DELETE', '', {}],
  ['updating a reactor', 'reactor', 'PUT', '', { body: { name: 'R' } }],
  ['patching a reactor', 'reactor', 'PATCH', '', { body: { name: 'N' }, headers: patchHeaders }],
  ['deleting a reactor', 'reactor', 'DELETE', '', {}],
  ['updating a reactor formula', 'reactor_formula', 'PUT', '', { body: { name: 'F', code: 'f()' } }],
] as const)('%s is announced', async (_name, kind, method, suffix, options) => {
  const { send, application, proxy, reactor, formula } = api.current;
  const create = { application, proxy, reactor, reactor_formula: formula }[kind];
  const { id } = await create();
  const paths = {
    ...{ application: 'applications', proxy: 'proxies' },
    ...{ reactor: 'reactors', reactor_formula: 'reactor-formulas' },
  };
  const path = `/${paths[kind]}/${id}${suffix}`;
  const announced = await announcedOf(id, () => send(method, path, options));
  expect(announced).toEqual([method === 'POST' ? [`${kind}:${id}`, 'absent'] : [`${kind}:${id}`]]);
});

describe('an id in capitals is the same id', () => {
  const application = () => api.current.application();
  const proxy = () => api.current.proxy({ configuration: { secret: 'value' } });
  const session = () => api.current.session();
  const reactor = () => api.current.reactor({ configuration: { secret: 'value' } });
  const formula = () => api.current.formula();

  test.each<[string, () => Promise<{ id: string }>, string, string, string, CallOptions]>([
    ['application', application, 'PUT', '/applications', '', { body: { name: 'A', permissions: ['token:use'] } }],
    ['application', application, 'POST', '/applications', '/regenerate', {}],
    ['application', application, 'DELETE', '/applications', '', {}],
    ['proxy', proxy, 'PUT', '/proxies', '', { body: { ...definition, configuration: { a: 'b' } } }],
    ['proxy', proxy, 'PATCH', '/proxies', '', { body: { name: 'N' }, headers: patchHeaders }],
    ['proxy', proxy, 'DELETE', '/proxies', '', {}],
    ['session', session, 'DELETE', '/sessions', '', {}],
    ['reactor', reactor, 'PUT', '/reactors', '', { body: { name: 'R', configuration: { a: 'b' } } }],
    ['reactor', reactor, 'PATCH', '/reactors', '', { body: { name: 'N' }, headers: patchHeaders }],
    ['reactor', reactor, 'DELETE', '/reactors', '', {}],
    ['reactor_formula', formula, 'PUT', '/reactor-formulas', '', { body: { name: 'F', code: 'f()' } }],
  ])('for what is announced and audited of %s: %#', async (kind, create, method, path, suffix, options) => {
    const { send, db } = api.current;
    const { id } = await create();
    const announced = await announcedOf(id, async () => {
      expect((await send(method, `${path}/${id.toUpperCase()}${suffix}`, options)).status).toBeLessThan(300);
    });
    expect(announced).toEqual([expect.arrayContaining([`${kind}:${id}`])]);
    const rows = await db.selectFrom('audit_log').select('entity_id').where('entity_id', 'ilike', id).execute();
    expect(new Set(rows.map(({ entity_id }) => entity_id))).toEqual(new Set([id]));
  });

  test('for what is encrypted', async () => {
    const { send } = api.current;
    const { id } = await proxy();
    const of = (text: string) => `/proxies/${text}`;
    for (const [method, options] of [
      ['PUT', { body: { ...definition, configuration: { a: 'put' } } }],
      ['PATCH', { body: { configuration: { b: 'patched' } }, headers: patchHeaders }],
    ] as const) {
      expect((await send(method, of(id.toUpperCase()), options)).status).toBeLessThan(300);
    }
    expect((await send('GET', of(id))).body.configuration).toEqual({ a: 'put', b: 'patched' });
  });

  test('for a single key, and in what names another', async () => {
    const { send } = api.current;
    const { id } = await application();
    const keyId = await api.current.addKey(id);
    const capitals = `/applications/${id.toUpperCase()}/keys/${keyId.toUpperCase()}`;
    expect((await send('GET', capitals)).body.id).toBe(keyId);
    const announced = await announcedOf(id, async () => expect((await send('DELETE', capitals)).status).toBe(204));
    expect(announced).toEqual([[`application:${id}`]]);
    const named = await proxy();
    const { id: sessionId } = await authorizedSession(send, { proxies: [named.id.toUpperCase()] });
    const sessions: { id: string }[] = (await send('GET', '/sessions')).body.data;
    expect(sessions.find((one) => one.id === sessionId)).toMatchObject({ proxies: [named.id] });
  });

  test('which needs every id in a path to be declared as one', () => {
    const declared = operations.flatMap(({ params = {} }) =>
      Object.values('properties' in params ? Object(params.properties) : {}),
    );
    const inPaths = operations.flatMap(({ path }) => path.match(/:\w+/g) ?? []);
    expect(declared).toHaveLength(inPaths.length);
    const ids = declared.filter((schema) => Object(schema).type !== 'integer');
    for (const schema of ids) expect(schema).toMatchObject({ format: 'uuid' });
  });
});

test('deleting an Application names the Proxies that lost it', async () => {
  const { send, application, proxy } = api.current;
  const { id } = await application();
  const named = await proxy({ application: { id } });
  await proxy();
  const announced = await announcedOf(id, () => send('DELETE', `/applications/${id}`));
  expect(announced).toEqual([[`application:${id}`, `proxy:${named.id}`]]);
});

test.each([
  ['PUT', { body: { name: 'T' } }],
  ['DELETE', {}],
] as const)('%s of a Tenant drops everything of it', async (method, options) => {
  const { anotherTenant, send } = api.current;
  const { tenant_id, management_key: key } = await anotherTenant('T');
  const announced = await announcedOf(tenant_id, () => send(method, '/tenants/self', { ...options, key }));
  expect(announced).toEqual([[`tenant:${tenant_id}`]]);
});

type Send = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

async function authorizedSession(send: Send, part: object = {}) {
  const keyOf = async (type: string) => {
    const permissions = [type === 'public' ? 'token:create' : 'token:use'];
    return (await send('POST', '/applications', { body: { name: 'S', type, permissions } })).body.key;
  };
  const { body } = await send('POST', '/sessions', { key: await keyOf('public') });
  const grants = { nonce: body.nonce, permissions: ['token:use'], ...part };
  const authorized = await send('POST', '/sessions/authorize', { key: await keyOf('private'), body: grants });
  return { ...body, authorized };
}

test('every operation that changes what is cached says that no process serves the old state, and no other does', async () => {
  const { memberId, anotherTenant, url } = api.current;
  const confirming = operations.filter(({ confirmed }) => confirmed).map(({ id }) => id);
  expect(confirming).toEqual([
    'createApplication',
    'updateApplication',
    'regenerateApplicationKey',
    'deleteApplication',
    'createApplicationKey',
    'deleteApplicationKey',
    'authorizeSession',
    'endOwnSession',
    'deleteSession',
    'updateTenant',
    'deleteTenant',
    'updateMember',
    'deleteMember',
    'createProxy',
    'updateProxy',
    'patchProxy',
    'deleteProxy',
    'restoreProxyVersion',
    'updateReactorFormula',
    'createReactor',
    'updateReactor',
    'patchReactor',
    'deleteReactor',
  ]);
  const { management_key: key, tenant_id: tenantId } = await anotherTenant('T');
  const send = (method: string, path: string, options: CallOptions = {}) =>
    call(url, method, path, { key, ...options });
  const application = await send('POST', '/applications', {
    body: { name: 'A', type: 'private', permissions: ['token:use'] },
  });
  const proxy = await send('POST', '/proxies', { body: definition });
  const [ofApplication, ofProxy] = [`/applications/${application.body.id}`, `/proxies/${proxy.body.id}`];
  const confirmed = [
    application,
    proxy,
    await send('PUT', ofApplication, { body: { name: 'B', permissions: ['token:use'] } }),
    await send('POST', `${ofApplication}/regenerate`),
    await send('PUT', ofProxy, { body: definition }),
    await send('PATCH', ofProxy, { body: { name: 'N' }, headers: patchHeaders }),
    await send('POST', `${ofProxy}/versions/1/restore`),
    await send('PUT', '/tenants/self', { body: { name: 'T' } }),
  ];
  const added = await send('POST', `${ofApplication}/keys`);
  confirmed.push(added, await send('DELETE', `${ofApplication}/keys/${added.body.id}`));
  const [ended, deleted] = [await authorizedSession(send), await authorizedSession(send)];
  confirmed.push(
    ended.authorized,
    await send('DELETE', '/sessions/self', { key: ended.session_key }),
    await send('DELETE', `/sessions/${deleted.id}`),
  );
  const ofMember = `/tenants/self/members/${await memberId(tenantId)}`;
  confirmed.push(await send('PUT', ofMember, { body: { role: 'ADMIN' } }), await send('DELETE', ofMember));
  const formula = await send('POST', '/reactor-formulas', { body: { name: 'F', code: 'f()' } });
  const ofFormula = `/reactor-formulas/${formula.body.id}`;
  const reactor = await send('POST', '/reactors', { body: { name: 'R', formula: { id: formula.body.id } } });
  const ofReactor = `/reactors/${reactor.body.id}`;
  confirmed.push(
    await send('PUT', ofFormula, { body: { name: 'F', code: 'g()' } }),
    reactor,
    await send('PUT', ofReactor, { body: { name: 'R' } }),
    await send('PATCH', ofReactor, { body: { name: 'N' }, headers: patchHeaders }),
  );
  const silent = [
    formula,
    await send('DELETE', ofFormula),
    await send('GET', ofApplication),
    await send('GET', '/proxies'),
    await send('POST', '/proxies', { body: {} }),
    await send('DELETE', `/proxies/${application.body.id}`),
  ];
  for (const path of [ofReactor, ofProxy, ofApplication, '/tenants/self']) confirmed.push(await send('DELETE', path));
  expect(confirmed).toHaveLength(confirming.length);
  for (const { headers } of confirmed) {
    expect(headers.get('svc-revocation')).toMatch(/^change=[0-9a-f-]{36}, holders=[1-9]\d*, waited_ms=\d+$/);
  }
  for (const { headers } of silent) expect(headers.get('svc-revocation')).toBeNull();
});

test('what is refused announces nothing', async () => {
  const { send, proxy, tenant } = api.current;
  const { id } = await proxy();
  const announced = await announcedOf(id, async () => {
    await send('PUT', `/proxies/${id}`, { body: { ...definition, destination_url: 'x' } });
    await send('DELETE', `/proxies/${tenant.tenant_id}`);
    await send('GET', `/proxies/${id}`);
  });
  expect(announced).toEqual([]);
});

test('an announcement comes after the commit: who hears it reads the new state', async () => {
  const { application, db, send } = api.current;
  const { id } = await application();
  const subscriber = new Redis(testRedisUrl());
  const heard = Promise.withResolvers<string | undefined>();
  await subscriber.subscribe('{sluice}:changes');
  subscriber.on('message', async (_channel, text) => {
    if (!text.includes(id)) return;
    const row = await db.selectFrom('applications').select('name').where('id', '=', id).executeTakeFirst();
    heard.resolve(row?.name);
  });
  await send('PUT', `/applications/${id}`, { body: { name: 'New', permissions: ['token:read'] } });
  expect(await heard.promise).toBe('New');
  subscriber.disconnect();
});

describe('while Redis is away', () => {
  slow('0.5 s')('every change succeeds, and none waits for Redis, nor does a stop', async () => {
    const stack = new AsyncDisposableStack();
    const { send, application, proxy } = await startTestManagement(stack, { REDIS_URL: 'redis://127.0.0.1:1' });
    const timed = async <T>(mostMs: number, work: Promise<T>): Promise<T> => {
      const start = performance.now();
      const result = await work;
      expect(performance.now() - start).toBeLessThan(mostMs);
      return result;
    };
    for (let round = 0; round < 3; round++) {
      const expires_at = new Date(Date.now() + 60_000).toISOString();
      const { id } = await timed(8000, application({ expires_at }));
      const { id: proxyId } = await timed(4000, proxy({ application: { id } }));
      expect(
        (await timed(4000, send('PATCH', `/proxies/${proxyId}`, { body: {}, headers: patchHeaders }))).status,
      ).toBe(204);
      expect((await timed(4000, send('DELETE', `/applications/${id}`))).status).toBe(204);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect((await timed(8000, send('DELETE', '/tenants/self'))).status).toBe(204);
    await timed(4000, stack.disposeAsync());
  });
});

slow('0.4 s')('while Redis hangs an alarm keeps nobody waiting, nor does a stop', async () => {
  await using stack = new AsyncDisposableStack();
  const door = await openRedisDoor(stack);
  const own = new AsyncDisposableStack();
  stack.defer(() => own.disposeAsync());
  const { application } = await startTestManagement(own, { REDIS_URL: door.url });
  const soon = () => ({ expires_at: new Date(Date.now() + 60_000).toISOString() });
  await application(soon());
  const release = door.stall('to-client');
  stack.defer(() => release());
  const creation = async (body: object) => {
    const startedAt = performance.now();
    await application(body);
    return performance.now() - startedAt;
  };
  // Each request waits until its change is confirmed, which takes longer than usual
  const differences: number[] = [];
  for (let round = 0; round < 3; round++) {
    differences.push((await creation(soon())) - (await creation({})));
  }
  expect(Math.min(...differences)).toBeLessThan(500);
  const startedAt = performance.now();
  await own.disposeAsync();
  expect(performance.now() - startedAt).toBeLessThan(5000);
});
