import { absent, tagOf } from '@sluice/cache-coherence';
import { generateApiKey } from '@sluice/credentials';
import { eventually, useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

const gateway = useStack((stack) =>
  startTestGateway(stack, { BASE_URL: 'http://localhost', ROUTES_HOST: 'routes.localhost' }),
);

let count = 0;

async function open(parts: Partial<ProxyParts> = {}) {
  const { tenant, destination } = gateway.current;
  destination.seen.length = 0;
  count += 1;
  const pathName = `shop-${count}`;
  const { key } = await tenant.application();
  const proxy = await tenant.proxy({ destination: `${destination.url}/base`, pathName, ...parts });
  return { pathName, key, proxy, destination };
}

const call = (path: string, headers: Record<string, string>, init: RequestInit = {}) =>
  fetch(`${gateway.current.url}/routes/${path}`, { ...init, headers });
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
const everywhere = ['bearer', 'x-api-key', 'basic'];
/** It has the form of a key, and nobody has it. */
const unknownKey = generateApiKey('test', 'private');
const headerOf = {
  own: (key: string) => ({ 'SVC-API-KEY': key }),
  Bearer: (key: string) => ({ Authorization: `Bearer ${key}` }),
  token: (key: string) => ({ Authorization: `TOKEN ${key}` }),
  'X-Api-Key': (key: string) => ({ 'X-Api-Key': key }),
  'Basic, as user': (key: string) => ({ Authorization: basic(key, '') }),
  'Basic, as password': (key: string) => ({ Authorization: basic('x-access-token', key) }),
};
const ways = Object.entries(headerOf);

describe.each(ways)('a key in %s', (way, header) => {
  test('calls the Proxy of its Tenant, and does not go on', async () => {
    const { pathName, key, destination } = await open({ acceptKeyAs: everywhere });
    const answer = await call(`${pathName}/v1/a%2Fb?svc-proxy-key=theirs`, header(key));
    expect([answer.status, answer.headers.get('vary')]).toEqual([200, 'Authorization, X-Api-Key, SVC-API-KEY']);
    const [seen] = destination.seen;
    expect(seen?.url).toBe('/base/v1/a%2Fb?svc-proxy-key=theirs');
    expect(JSON.stringify(seen?.rawHeaders)).not.toContain(key);
    expect(Object.keys(seen?.headers ?? {})).not.toContain('authorization');
  });

  test('that is unknown is 401', async () => {
    const { pathName, destination } = await open({ acceptKeyAs: everywhere });
    const answer = await call(pathName, header(unknownKey));
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="sluice", Bearer']);
    expect(destination.seen).toEqual([]);
  });

  test('of a name that its Tenant does not have is 404, of one that only another Tenant has, too', async () => {
    const { key } = await open();
    const { stranger, destination } = gateway.current;
    await stranger.proxy({ destination: destination.url, pathName: `theirs-${count}`, acceptKeyAs: everywhere });
    expect((await call('nothing', header(key))).status).toBe(404);
    expect((await call(`theirs-${count}`, header(key))).status).toBe(404);
  });

  test('without token:use is 403', async () => {
    const { pathName } = await open({ acceptKeyAs: everywhere });
    const { key } = await gateway.current.tenant.application({ permissions: ['token:create'] });
    expect((await call(pathName, header(key))).status).toBe(403);
    expect((await call(way === 'own' ? 'nothing' : pathName, header(key))).status).toBe(403);
  });
});

test('a Proxy that lists no place takes our header only', async () => {
  const { pathName, key } = await open();
  const statuses = [];
  for (const [, header] of ways) statuses.push((await call(pathName, header(key))).status);
  expect(statuses).toEqual([200, 401, 401, 401, 401, 401]);
});

test('two Tenants have one name, and each key calls its own', async () => {
  const { pathName, key, destination } = await open({ acceptKeyAs: ['bearer'] });
  const { stranger } = gateway.current;
  await stranger.proxy({ destination: `${destination.url}/theirs`, pathName, acceptKeyAs: ['bearer'] });
  const { key: theirKey } = await stranger.application();
  await call(pathName, headerOf.Bearer(key));
  await call(pathName, headerOf.Bearer(theirKey));
  // Our own header counts alone
  await call(pathName, { ...headerOf.Bearer(theirKey), ...headerOf.own(key) });
  // A place that is not listed is passed over
  await call(pathName, { ...headerOf['X-Api-Key'](key), ...headerOf.Bearer(theirKey) });
  expect(destination.seen.map(({ url }) => url)).toEqual(['/base', '/theirs', '/base', '/theirs']);
  expect((await call(pathName, { ...headerOf.Bearer(key), ...headerOf.own('nonsense') })).status).toBe(401);
});

test('a key of the destination passes beside ours', async () => {
  const { pathName, key, destination } = await open({ acceptKeyAs: everywhere });
  await call(pathName, { Authorization: 'Bearer theirs', 'X-Api-Key': key });
  expect(destination.seen[0]?.headers).toMatchObject({ authorization: 'Bearer theirs' });
});

test('a browser is not asked for Basic, and none that it sends counts', async () => {
  const { pathName, key } = await open({ acceptKeyAs: everywhere });
  const browser = { 'Sec-Fetch-Site': 'same-origin' };
  const answer = await call(pathName, { ...browser, ...headerOf['Basic, as password'](key) });
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  expect((await call(pathName, { ...browser, ...headerOf.Bearer(key) })).status).toBe(200);
});

test('every line that holds a key is removed, also one that a transform has made', async () => {
  const requestTransform = `module.exports = async ({ args }) => ({
    headers: { ...args.headers, 'x-made': 'key ' + args.body.key, 'x-seen': JSON.stringify(args.headers), 'x-kept': 'yes' },
  });`;
  const { pathName, key, destination } = await open({ acceptKeyAs: everywhere, requestTransform });
  const lines = {
    Cookie: `a=b; key=${key}`,
    'X-Log': `1 (${key}xyz)`,
    'X-Auth': basic('u', key),
    Accept: 'text/plain',
  };
  const headers = { ...headerOf.Bearer(key), ...lines, 'Content-Type': 'application/json' };
  const answer = await call(pathName, headers, { method: 'POST', body: JSON.stringify({ key }) });
  expect(answer.status).toBe(200);
  const { headers: seen = {}, rawHeaders } = destination.seen[0] ?? {};
  expect(JSON.stringify(rawHeaders)).not.toContain(key);
  expect(Object.keys(seen)).not.toEqual(expect.arrayContaining(['cookie', 'x-log', 'x-auth', 'x-made']));
  expect(seen).toMatchObject({ accept: 'text/plain', 'x-kept': 'yes' });
});

test('a name that was asked for before it was set is found at once', async () => {
  const { key, proxy } = await open();
  const { db, announce, tenant } = gateway.current;
  let later = '';
  // A lease that ends on a busy machine empties the cache; another name is asked for then.
  await eventually('an absence is remembered', async () => {
    count += 1;
    later = `later-${count}`;
    if ((await call(later, headerOf.own(key))).status !== 404) return false;
    await db.updateTable('proxies').set({ path_name: later }).where('id', '=', proxy.id).execute();
    return (await call(later, headerOf.own(key))).status === 404;
  });
  await announce(tenant.id, [tagOf.proxy(proxy.id), absent]);
  expect((await call(later, headerOf.own(key))).status).toBe(200);
});

test('an invocation that is revealed on a route needs no require_auth', async () => {
  const { pathName, key, destination } = await open({ requireAuth: false, acceptKeyAs: ['bearer'] });
  const token = await gateway.current.tenant.token({ data: 'the value' });
  const body = JSON.stringify({ secret: `{{ ${token} }}` });
  await call(pathName, { ...headerOf.Bearer(key), 'Content-Type': 'application/json' }, { method: 'POST', body });
  expect(destination.seen[0]?.body).toBe('{"secret":"the value"}');
  expect((await call(pathName, {}, { method: 'POST', body })).status).toBe(401);
});

describe('what a Proxy allows', () => {
  const allowed = { allowedMethods: ['GET'], allowedPaths: ['/v1/a'] };

  test.each([
    ['GET', '/v1/a/b', 200],
    ['POST', '/v1/a/b', 403],
    ['GET', '/v1/b', 403],
    ['GET', '/v1/a/%2e%2e/b', 403],
  ])('%s %s is %d, on the route and by the key of the Proxy', async (method, path, status) => {
    const { pathName, key, proxy } = await open({ ...allowed });
    expect((await call(`${pathName}${path}`, headerOf.own(key), { method })).status).toBe(status);
    const headers = { ...headerOf.own(key), 'SVC-PROXY-KEY': proxy.key };
    expect((await fetch(`${gateway.current.url}/proxy${path}`, { method, headers })).status).toBe(status);
  });
});

test('an Application that names Proxies calls no other', async () => {
  const { pathName, proxy } = await open();
  const other = await open();
  const { key } = await gateway.current.tenant.application({ proxies: [proxy.id] });
  expect((await call(pathName, headerOf.own(key))).status).toBe(200);
  expect((await call(other.pathName, headerOf.own(key))).status).toBe(403);
});

test.each([
  ['quotes', (text: string) => `"${text}"`],
  ['a dot inside', (text: string) => `${text.slice(0, 8)}.${text.slice(8)}`],
  ['more behind padding', (text: string) => `${text}==.`],
])('Basic with %s, which decoders read differently, is no key', async (_, spoil) => {
  const { pathName, key, destination } = await open({ acceptKeyAs: everywhere });
  const text = Buffer.from(`x:${key}`).toString('base64');
  expect((await call(pathName, { Authorization: `Basic ${spoil(text)}` })).status).toBe(401);
  expect(destination.seen).toEqual([]);
  expect((await call(pathName, { Authorization: `Basic ${text}` })).status).toBe(200); // control
});
