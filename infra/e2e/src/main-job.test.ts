import { setTimeout as wait } from 'node:timers/promises';
import { eventually, startDestination, useStack } from '@sluice/testing';
import { type Created, startPlatform } from './platform.ts';

jest.setTimeout(60_000);

const cardNumber = '4242424242424242';

const world = useStack(async (closing) => {
  const platform = await startPlatform(closing);
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
  return { platform, destination, application, cardId: token.body.id as string };
}

function invoke({ platform, application, cardId }: Scene, proxy: Created, path = '/proxy') {
  const headers = { 'SVC-PROXY-KEY': proxy.key };
  return platform.call('POST', path, { key: application.key, headers, body: { card: `{{${cardId}}}` } });
}

test('a card number goes in once, is a token everywhere, and comes out at the destination only', async () => {
  const scene = await setUp();
  const { platform, destination, application, cardId } = scene;
  const masked = await platform.call('GET', `/tokens/${cardId}`, { key: application.key });
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
  const again = await platform.call('POST', '/detokenize', {
    key: application.key,
    body: { back: `{{${answer.body.token}}}` },
  });
  expect(again.status).toBe(200);
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

test('a key that was regenerated and an Application that was deleted are refused from the answer on, in every service', async () => {
  const scene = await setUp();
  const { platform, destination, application, cardId } = scene;
  const proxy = await platform.createProxy({ destination_url: destination.url });
  const statuses = async (key: string) => [
    (await invoke({ ...scene, application: { ...application, key } }, proxy)).status,
    (await platform.call('GET', `/tokens/${cardId}`, { key })).status,
    (await platform.call('GET', '/permissions', { key })).status,
  ];
  expect(await statuses(application.key)).toEqual([200, 200, 200]);
  const { body } = await platform.manage('POST', `/applications/${application.id}/regenerate`);
  expect(await statuses(application.key)).toEqual([401, 401, 401]);
  expect(await statuses(body.key)).toEqual([200, 200, 200]);
  expect((await platform.manage('DELETE', `/applications/${application.id}`)).status).toBe(204);
  expect(await statuses(body.key)).toEqual([401, 401, 401]);
});

test('an Application is gone everywhere at the moment of its expiry, and its row soon after', async () => {
  const { platform, destination, cardId } = await setUp();
  const expiresAt = Date.now() + 6000;
  const application = await platform.createApplication({
    permissions: ['token:use', 'token:read'],
    expires_at: new Date(expiresAt).toISOString(),
  });
  const proxy = await platform.createProxy({ destination_url: destination.url });
  const statuses = async () => [
    (await invoke({ platform, destination, application, cardId }, proxy)).status,
    (await platform.call('GET', `/tokens/${cardId}`, { key: application.key })).status,
    (await platform.call('GET', '/permissions', { key: application.key })).status,
    (await platform.manage('GET', `/applications/${application.id}`)).status,
  ];
  expect(await statuses()).toEqual([200, 200, 200, 200]);
  expect(Date.now()).toBeLessThan(expiresAt);
  await wait(expiresAt - Date.now() + 20);
  expect(await statuses()).toEqual([401, 401, 401, 404]);
  const rows = () => platform.query('select id from applications where id = $1', [application.id]);
  await eventually('its row is removed', async () => (await rows()).length === 0);
});

test('what the services answer is told apart by path alone', async () => {
  const { platform } = world.current;
  expect((await platform.call('GET', '/proxyfoo')).headers.get('content-type')).toContain('application/problem+json');
  expect((await platform.call('GET', '/proxy')).body).toHaveProperty('proxy_error');
  expect((await platform.call('GET', '/proxies')).status).toBe(401);
  expect((await platform.call('POST', '/tokenize', { body: 1 })).status).toBe(401);
});
