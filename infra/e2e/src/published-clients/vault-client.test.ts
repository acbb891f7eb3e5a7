import { randomUUID } from 'node:crypto';
import { BasisTheory } from '@basis-theory/basis-theory-js';
import { startDestination, useStack } from '@sluice/testing';
import { startPlatform } from '../platform.ts';

/**
 * The client that a hosted vault publishes, as it is: its name for the headers is the platform's HEADER_PREFIX, and whoever moves
 * over changes the address and the key.
 */
const world = useStack(async (closing) => {
  const platform = await startPlatform(closing, { environment: { HEADER_PREFIX: 'BT' } });
  const { baseUrl, credentials } = platform.stack;
  const apiBaseUrl = baseUrl.replace('127.0.0.1', 'localhost'); // it takes every other host for one with TLS
  const open = (key: string) => new BasisTheory().init(key, { apiBaseUrl, disableTelemetry: true });
  return {
    platform,
    open,
    manager: await open(credentials.management_key),
    destination: await startDestination(closing),
  };
});

type Client = Awaited<ReturnType<(typeof world)['current']['open']>>;

const resources = [
  ...(['tokens', 'applications', 'applicationKeys', 'applicationTemplates', 'tenants', 'logs'] as const),
  ...(['reactorFormulas', 'reactors', 'permissions', 'proxies', 'proxy', 'sessions'] as const),
];

/** All but what belongs to its hosted pages, to 3-D Secure of its own, and to short-lived tokens of its own. */
function callsOf(client: Client): Set<string> {
  const found = new Set(['tokenize']);
  for (const resource of resources) {
    for (
      let type = Object.getPrototypeOf(client[resource]);
      type !== Object.prototype;
      type = Object.getPrototypeOf(type)
    ) {
      for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(type))) {
        const isInternal = name === 'constructor' || name === 'proxyRequest';
        if (typeof value === 'function' && !isInternal) found.add(`${resource}.${name}`);
      }
    }
  }
  return found;
}

const called = new Set<string>();

/** The client, noting which of its calls were answered. */
function noting(client: Client): Client {
  const note = (name: string, call: (...args: unknown[]) => Promise<unknown>) => {
    return async (...args: unknown[]) => {
      const answer = await call(...args);
      called.add(name);
      return answer;
    };
  };
  return new Proxy(client, {
    get(target, member) {
      const value = Reflect.get(target, member);
      if (member === 'tokenize') return note('tokenize', value.bind(target));
      if (!resources.some((name) => name === member)) return value;
      return new Proxy(value, {
        get: (resource, name) => note(`${String(member)}.${String(name)}`, Reflect.get(resource, name).bind(resource)),
      });
    },
  });
}

async function clients() {
  const { open, manager } = world.current;
  const permissions = ['token:create', 'token:read', 'token:update', 'token:delete', 'token:search', 'token:use'];
  const application = await manager.applications.create({ name: 'backend', type: 'private', permissions });
  const page = await manager.applications.create({
    name: 'page',
    type: 'public',
    permissions: ['token:create'],
  });
  return {
    bt: noting(manager),
    application,
    backend: noting(await open(application.key ?? '')),
    page: noting(await open(page.key ?? '')),
  };
}

const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2040 };
const code = 'module.exports = async (req) => ({ raw: { last4: req.args.number.slice(-4), ...req.configuration } });';
const gone = { status: 404 };

test('Applications, their keys, templates and permissions', async () => {
  const { bt } = await clients();
  const made = await bt.applications.create({ name: 'A', type: 'private', permissions: ['token:create'] });
  expect(made.key).toMatch(/^svc_/);
  expect(await bt.applications.retrieve(made.id)).toMatchObject({ id: made.id, name: 'A', tenantId: made.tenantId });
  expect(await bt.applications.update(made.id, { name: 'B', permissions: ['token:use'] })).toMatchObject({
    name: 'B',
  });
  expect((await bt.applications.list({ id: made.id })).data).toMatchObject([{ id: made.id, name: 'B' }]);
  expect((await bt.applications.regenerateKey(made.id)).key).not.toBe(made.key);
  const self = await bt.applications.retrieveByKey();
  // Its types omit this operation, because another replaced it
  const former: Pick<typeof bt.applications, 'retrieveByKey'> & { getApplicationByKey?(): Promise<unknown> } =
    bt.applications;
  expect(await former.getApplicationByKey?.()).toEqual(self);

  const { id: keyId = '' } = await bt.applicationKeys.create(made.id);
  expect(await bt.applicationKeys.get(made.id)).toHaveLength(2);
  expect(await bt.applicationKeys.getById(made.id, keyId)).toMatchObject({ id: keyId });
  await bt.applicationKeys.delete(made.id, keyId);
  expect(await bt.applicationKeys.get(made.id)).toHaveLength(1);

  const [template] = await bt.applicationTemplates.list();
  expect(await bt.applicationTemplates.retrieve(template?.id ?? '')).toEqual(template);
  expect((await bt.permissions.list({ applicationType: 'private' })).map(({ type }) => type)).toContain('token:use');
  await bt.applications.delete(made.id);
  await expect(bt.applications.retrieve(made.id)).rejects.toMatchObject(gone);
});

test('tokens, whole documents and sessions', async () => {
  const { backend, page } = await clients();
  const token = await backend.tokens.create({ type: 'card', data: card });
  expect(await backend.tokens.retrieve(token.id)).toMatchObject({ id: token.id, type: 'card' });
  const options = { metadata: { order: '1042' } };
  expect(await backend.tokens.update(token.id, options)).toMatchObject({ id: token.id });
  expect((await backend.tokens.list({ id: token.id })).data).toMatchObject([{ id: token.id, ...options }]);
  expect((await backend.tokens.search({ query: 'metadata.order:1042' })).data).toMatchObject([{ id: token.id }]);
  expect(await backend.tokenize({ first: 'Ada', last: 'Lovelace' })).toEqual({
    first: expect.any(String),
    last: expect.any(String),
  });
  const session = await page.sessions.create();
  await backend.sessions.authorize({ nonce: session.nonce, permissions: ['token:read'] });
  const browser = await world.current.open(session.sessionKey);
  expect(await browser.tokens.retrieve(token.id)).toMatchObject({ id: token.id });
  await backend.tokens.delete(token.id);
  await expect(backend.tokens.retrieve(token.id)).rejects.toMatchObject(gone);
});

test('Proxies, and calls through one', async () => {
  const { bt, backend } = await clients();
  const { destination } = world.current;
  const body = { name: 'P', destinationUrl: destination.url, configuration: { API_KEY: 'k' } };
  const proxy = await bt.proxies.create(body);
  expect(await bt.proxies.retrieve(proxy.id)).toMatchObject({ id: proxy.id, destinationUrl: destination.url });
  expect(await bt.proxies.update(proxy.id, { ...body, name: 'Q' })).toMatchObject({ name: 'Q' });
  await bt.proxies.patch(proxy.id, { name: 'R' });
  expect((await bt.proxies.list({ id: proxy.id })).data).toMatchObject([
    { name: 'R', configuration: { API_KEY: 'k' } },
  ]);

  const token = await backend.tokens.create({ type: 'token', data: 'a value' });
  const sent = { headers: { 'BT-PROXY-KEY': proxy.key }, body: { value: `{{ ${token.id} }}` } };
  for (const method of ['post', 'put', 'patch'] as const) {
    await backend.proxy[method](sent);
    expect(destination.seen.pop()).toMatchObject({ body: '{"value":"a value"}' });
  }
  for (const method of ['get', 'delete'] as const) {
    await backend.proxy[method]({ headers: sent.headers });
    expect(destination.seen.pop()).toMatchObject({ body: '' });
  }
  await bt.proxies.delete(proxy.id);
  await expect(bt.proxies.retrieve(proxy.id)).rejects.toMatchObject(gone);
});

test('reactors and their formulas', async () => {
  const { bt, backend, application } = await clients();
  const declared = { configuration: [{ name: 'KEY', type: 'string' as const }], requestParameters: [] };
  const formula = await bt.reactorFormulas.create({ type: 'private', name: 'F', code, ...declared });
  expect(await bt.reactorFormulas.retrieve(formula.id)).toMatchObject({ id: formula.id, ...declared });
  expect(await bt.reactorFormulas.update(formula.id, { ...formula, name: 'G' })).toMatchObject({ name: 'G' });
  expect((await bt.reactorFormulas.list({ name: 'G' })).data).toMatchObject([{ id: formula.id }]);

  const body = { name: 'R', configuration: { KEY: 'k' }, application: { id: application.id } };
  const running = { ...body, formula: { id: formula.id } };
  const reactor = await bt.reactors.create(running);
  expect(await bt.reactors.retrieve(reactor.id)).toMatchObject({ id: reactor.id, configuration: { KEY: 'k' } });
  expect(await bt.reactors.update(reactor.id, { ...body, name: 'S' })).toMatchObject({ name: 'S' });
  await bt.reactors.patch(reactor.id, { configuration: { KEY: 'l' } });
  expect((await bt.reactors.list({ id: reactor.id })).data).toMatchObject([{ configuration: { KEY: 'l' } }]);

  const token = await backend.tokens.create({ type: 'card', data: card });
  const args = { number: `{{ ${token.id} | json: '$.number' }}` };
  expect(await backend.reactors.react(reactor.id, { args })).toMatchObject({
    raw: { last4: '4242', KEY: 'l' },
  });
  await expect(bt.reactorFormulas.delete(formula.id)).rejects.toMatchObject({ status: 409 });
  await bt.reactors.delete(reactor.id);
  await bt.reactorFormulas.delete(formula.id);
  await expect(bt.reactors.retrieve(reactor.id)).rejects.toMatchObject(gone);
});

test('the Tenant, its people and its log, until it is deleted; and no call of the client was left out', async () => {
  const { bt } = await clients();
  const { platform } = world.current;
  const { name, id, settings = {} } = await bt.tenants.retrieve();
  expect(await bt.tenants.update({ name: `${name} 2`, settings })).toMatchObject({ id, name: `${name} 2` });
  expect(await bt.tenants.retrieveUsageReport()).toMatchObject({ tokenReport: { metricsByType: expect.any(Object) } });

  const invited = await bt.tenants.createInvitation({ email: 'ada@example.com' });
  expect((await bt.tenants.listInvitations()).data).toMatchObject([{ id: invited.id, email: 'ada@example.com' }]);
  expect(await bt.tenants.retrieveInvitation(invited.id)).toMatchObject({ status: 'PENDING' });
  await bt.tenants.resendInvitation(invited.id);
  await bt.tenants.deleteInvitation(invited.id);

  const userId = randomUUID();
  await platform.query('insert into users (id) values ($1)', [userId]);
  await platform.query('insert into members (tenant_id, user_id, role) values ($1, $2, $3)', [id, userId, 'AUDITOR']);
  const member = (await bt.tenants.listMembers()).data.find(({ user }) => user.id === userId);
  await bt.tenants.deleteMember(member?.id ?? '');

  const [newest] = (await bt.logs.list({ entityType: 'tenant' })).data;
  expect(newest).toMatchObject({ entityType: 'tenant', operation: 'update' });
  await bt.tenants.delete();
  await expect(bt.tenants.retrieve()).rejects.toMatchObject({ status: 401 });

  const all = callsOf(world.current.manager);
  expect([...all].filter((call) => !called.has(call))).toEqual([]);
  expect(all.size).toBe(59);
});
