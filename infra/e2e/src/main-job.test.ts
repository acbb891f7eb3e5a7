import { setTimeout as wait } from 'node:timers/promises';
import { eventually, startDestination, useStack } from '@sluice/testing';
import { type Created, sharePlatform } from './platform.ts';

const cardNumber = '4242424242424242';

const world = useStack(async (closing) => {
  const platform = await sharePlatform();
  const destination = await startDestination(closing);
  return { platform, destination };
});

type Scene = Awaited<ReturnType<typeof setUp>>;

async function setUp() {
  const { platform, destination } = world.current;
  const application = await platform.createApplication({ permissions: ['token:create', 'token:read', 'token:use'] });
  const token = await platform.call('POST', '/tokens', {
    key: application.key,
    body: { type: 'card', data: { number: cardNumber } },
  });
  expect(token.status).toBe(201);
  return { platform, destination, application, key: application.key, cardId: token.body.id as string };
}

type Caller = Pick<Scene, 'platform' | 'cardId' | 'key'>;

function invoke({ platform, cardId, key }: Caller, proxy: Created, path = '/proxy') {
  const headers = { 'SVC-PROXY-KEY': proxy.key };
  return platform.call('POST', path, { key, headers, body: { card: `{{${cardId}}}` } });
}

test('a card number goes in once, is a token everywhere, and comes out at the destination only', async () => {
  const scene = await setUp();
  const { platform, destination, application, key, cardId } = scene;
  const masked = await platform.call('GET', `/tokens/${cardId}`, { key });
  expect(masked.body.data).toMatchObject({ number: 'XXXXXXXXXXXX4242' });
  const proxy = await platform.createProxy({
    destination_url: `${destination.url}/charge`,
    application: { id: application.id },
    configuration: { secret: 's3cret' },
    request_transform: {
      code: 'module.exports = async ({ args, configuration }) => ({ body: args.body, headers: { ...args.headers, authorization: configuration.secret } });',
    },
    response_transform: {
      code: 'module.exports = async ({ args, svc }) => ({ body: { token: await svc.tokenize(args.body.card.number) } });',
    },
  });
  const answer = await invoke(scene, proxy, '/proxy/now?x=1');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('svc-proxy-destination-status')).toBe('200');
  expect(destination.seen.at(-1)).toEqual({
    path: '/charge/now?x=1',
    authorization: 's3cret',
    body: `{"card":{"number":"${cardNumber}"}}`,
  });
  expect(JSON.stringify(answer.body)).not.toContain(cardNumber);
  const back = { back: `{{${answer.body.token}}}` };
  expect((await platform.call('POST', '/detokenize', { key, body: back })).status).toBe(200);
  const usage = await platform.manage('GET', '/tenants/self/reports/usage');
  expect(usage.body.token_report.metrics_by_type.card.count).toBeGreaterThanOrEqual(1);
});

test('a Proxy that was changed is invoked as changed, and one that was deleted is gone', async () => {
  const scene = await setUp();
  const { platform, destination } = scene;
  const proxy = await platform.createProxy({ destination_url: `${destination.url}/before` });
  expect((await invoke(scene, proxy)).status).toBe(200);
  await platform.sluice.proxies.patch(proxy.id, { destination_url: `${destination.url}/after` });
  expect((await invoke(scene, proxy)).status).toBe(200);
  expect(destination.seen.at(-1)?.path).toBe('/after');
  await platform.sluice.proxies.delete(proxy.id);
  expect((await invoke(scene, proxy)).status).toBe(404);
});

/** How gateway, token vault and management API answer to a key. */
async function statuses({ platform, cardId }: Scene, proxy: Created, key: string): Promise<number[]> {
  return [
    (await invoke({ platform, cardId, key }, proxy)).status,
    (await platform.call('GET', `/tokens/${cardId}`, { key })).status,
    (await platform.call('GET', '/permissions', { key })).status,
  ];
}

test('a key that was regenerated and an Application that was deleted are refused from the answer on, in every service', async () => {
  const scene = await setUp();
  const { platform, destination, application, key } = scene;
  const proxy = await platform.createProxy({ destination_url: destination.url });
  expect(await statuses(scene, proxy, key)).toEqual([200, 200, 200]);
  const { body } = await platform.manage('POST', `/applications/${application.id}/regenerate`);
  expect(await statuses(scene, proxy, key)).toEqual([401, 401, 401]);
  expect(await statuses(scene, proxy, body.key)).toEqual([200, 200, 200]);
  expect((await platform.manage('DELETE', `/applications/${application.id}`)).status).toBe(204);
  expect(await statuses(scene, proxy, body.key)).toEqual([401, 401, 401]);
});

test('an Application is gone everywhere at the moment of its expiry, and its row soon after', async () => {
  const scene = await setUp();
  const { platform, destination } = scene;
  const expiresAt = Date.now() + 6000;
  const expires_at = new Date(expiresAt).toISOString();
  const { id, key } = await platform.createApplication({ permissions: ['token:use', 'token:read'], expires_at });
  const proxy = await platform.createProxy({ destination_url: destination.url });
  const managed = async () => (await platform.manage('GET', `/applications/${id}`)).status;
  expect([...(await statuses(scene, proxy, key)), await managed()]).toEqual([200, 200, 200, 200]);
  expect(Date.now()).toBeLessThan(expiresAt);
  await wait(expiresAt - Date.now() + 20);
  expect([...(await statuses(scene, proxy, key)), await managed()]).toEqual([401, 401, 401, 404]);
  const rows = () => platform.query('select id from applications where id = $1', [id]);
  await eventually('its row is removed', async () => (await rows()).length === 0);
});

test('a deleted Tenant: every key is refused at once, its data keys are gone, its rows are purged, its audit rows stay', async () => {
  const { platform, key, cardId } = await setUp();
  const { query, call, manage, stack } = platform;
  expect((await manage('DELETE', '/tenants/self')).status).toBe(204);
  expect((await manage('GET', '/tenants/self')).status).toBe(401);
  expect((await call('GET', `/tokens/${cardId}`, { key })).status).toBe(401);

  const count = async (table: string, column = 'tenant_id') =>
    (await query(`select from ${table} where ${column} = $1`, [stack.credentials.tenant_id])).length;
  expect(await count('data_keys')).toBe(0);
  await eventually('the Tenant is purged', async () => (await count('tenants', 'id')) === 0);
  for (const table of ['tokens', 'applications', 'proxies', 'counters']) expect(await count(table)).toBe(0);
  expect(await count('audit_log')).toBeGreaterThan(0);
});
