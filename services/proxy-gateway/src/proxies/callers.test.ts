import { useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => startTestGateway(stack));

let count = 0;

async function openProxy(parts: object = {}) {
  const { tenant, destination } = gateway.current;
  count += 1;
  const pathName = `shop-${count}`;
  const proxy = await tenant.proxy({ destination: destination.url, pathName, ...parts });
  return { ...proxy, pathName };
}

type Target = Awaited<ReturnType<typeof openProxy>>;

const ways: Record<string, (target: Target, key: string, body?: string) => Promise<Response>> = {
  'by the key of the Proxy': ({ key: proxyKey }, key, body) => post('/proxy', { key, proxyKey, body }),
  'by the route': ({ pathName }, key, body) => post(`/routes/${pathName}`, { key, body }),
};

function post(
  path: string,
  { key, proxyKey, body = '{}' }: { key: string; proxyKey?: string; body?: string | undefined },
) {
  const headers = {
    'SVC-API-KEY': key,
    'Content-Type': 'application/json',
    ...(proxyKey !== undefined && { 'SVC-PROXY-KEY': proxyKey }),
  };
  return fetch(`${gateway.current.url}${path}`, { method: 'POST', headers, body });
}

describe.each(Object.entries(ways))('%s', (_, call) => {
  test('an Application that names Proxies calls these, and no other', async () => {
    const { tenant, destination } = gateway.current;
    const [named, other] = [await openProxy(), await openProxy()];
    const { key } = await tenant.application({ proxies: [named.id] });
    const free = await tenant.application();
    destination.seen.length = 0;
    expect((await call(named, key)).status).toBe(200);
    expect((await call(other, key)).status).toBe(403);
    expect(destination.seen).toHaveLength(1);
    expect((await call(other, free.key)).status).toBe(200);
  });

  test('a list whose Proxies are gone grants nothing', async () => {
    const { tenant, db } = gateway.current;
    const [gone, other] = [await openProxy(), await openProxy()];
    const { key } = await tenant.application({ proxies: [gone.id] });
    await db.deleteFrom('proxies').where('id', '=', gone.id).execute();
    expect((await call(gone, key)).status).toBe(404);
    expect((await call(other, key)).status).toBe(403);
  });

  test('a session has what its own list and that of its Application name', async () => {
    const { tenant } = gateway.current;
    const [both, ofApplication, ofSession] = [await openProxy(), await openProxy(), await openProxy()];
    const { id } = await tenant.application({ proxies: [both.id, ofApplication.id] });
    const statusesOf = async (key: string) => {
      const statuses: number[] = [];
      for (const proxy of [both, ofApplication, ofSession]) statuses.push((await call(proxy, key)).status);
      return statuses;
    };
    const { key: bound } = await tenant.session(id, { proxies: [both.id, ofSession.id] });
    const { key: unbound } = await tenant.session(id);
    expect(await statusesOf(bound)).toEqual([200, 403, 403]);
    expect(await statusesOf(unbound)).toEqual([200, 200, 403]);
  });

  test('a Proxy that acts as such an Application uses its rights as before', async () => {
    const { tenant, destination } = gateway.current;
    const token = await tenant.token({ data: 'a secret value' });
    const { id } = await tenant.application({ proxies: [(await openProxy()).id] });
    const other = await openProxy({ applicationId: id, requestHeaders: { 'X-Secret': `{{ ${token} }}` } });
    const { key } = await tenant.application();
    destination.seen.length = 0;
    expect((await call(other, key)).status).toBe(200);
    expect(destination.seen[0]?.headers).toMatchObject({ 'x-secret': 'a secret value' });
  });
});

test('an Application that names Proxies runs no reactor, nor do its sessions', async () => {
  const { tenant } = gateway.current;
  const code = 'module.exports = async () => ({ raw: {} });';
  const reactor = await tenant.reactor({ code });
  const bound = await tenant.application({ proxies: [(await openProxy()).id] });
  const free = await tenant.application();
  const react = async (key: string) =>
    (await post(`/reactors/${reactor.id}/react`, { key, body: '{"args":{}}' })).status;
  const session = await tenant.session(bound.id);
  const named = await tenant.session(bound.id, { reactors: [reactor.id] });
  expect([await react(bound.key), await react(session.key), await react(named.key)]).toEqual([403, 403, 403]);
  expect(await react(free.key)).toBe(200);
});

test.each<[object, boolean]>([
  [{ allowedMethods: ['POST'] }, false],
  [{ allowedPaths: ['/a'] }, false],
  [{}, true],
])('where %j is set, headers that name another method or path go on: %s', async (parts, goOn) => {
  const { tenant, destination } = gateway.current;
  const { pathName } = await openProxy(parts);
  const { key } = await tenant.application();
  const names = ['x-http-method-override', 'x-http-method', 'x-method-override', 'x-original-url', 'x-rewrite-url'];
  destination.seen.length = 0;
  const answer = await fetch(`${gateway.current.url}/routes/${pathName}/a`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': key, ...Object.fromEntries(names.map((name) => [name, 'DELETE'])) },
  });
  expect(answer.status).toBe(200);
  expect(names.filter((name) => name in (destination.seen[0]?.headers ?? {}))).toEqual(goOn ? names : []);
});
