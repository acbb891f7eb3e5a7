import { request as httpRequest } from 'node:http';
import { useStack } from '@sluice/testing';
import { defaultAnswer } from '../testing/test-destination.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

const gateway = useStack((stack) =>
  startTestGateway(stack, { BASE_URL: 'https://sluice.example.com', ROUTES_HOST: 'routes.example.com' }),
);

interface Answered {
  status: number;
  location: string | undefined;
  link: string | undefined;
}

/** With any `Host`, which `fetch` does not let one set. */
function call(path: string, headers: Record<string, string>, method = 'GET'): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${gateway.current.url}${path}`, { method, headers }, (response) => {
      const { statusCode: status = 0, headers: answered } = response;
      response.resume();
      const { location, link } = answered;
      response.on('end', () => resolve({ status, location, link: link && String(link) }));
    });
    request.on('error', reject).end();
  });
}

let count = 0;

async function open(parts: Partial<ProxyParts> = {}) {
  const { tenant, destination } = gateway.current;
  destination.seen.length = 0;
  destination.answer = defaultAnswer;
  count += 1;
  const pathName = `shop-${count}`;
  const { key } = await tenant.application();
  await tenant.proxy({ destination: `${destination.url}/base`, pathName, ...parts });
  const answersAt = (location: string, link = `<${location}>; rel="next"`) => {
    destination.answer = (_request, response) => response.writeHead(302, { Location: location, Link: link }).end();
  };
  return { pathName, own: { 'SVC-API-KEY': key }, destination, answersAt };
}

test.each([
  ['sluice.example.com', 'https://sluice.example.com'],
  ['SLUICE.example.com:443', 'https://sluice.example.com'],
  ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['other.example', 'https://other.example'],
])('the route of Host %s has its links at %s', async (host, origin) => {
  const { pathName, own, answersAt } = await open();
  answersAt('v2?page=2');
  expect(await call(`/routes/${pathName}/v1`, { ...own, Host: host })).toEqual({
    status: 302,
    location: `/routes/${pathName}/v2?page=2`,
    link: `<${origin}/routes/${pathName}/v2?page=2>; rel="next"`,
  });
});

test('a host of its own has addresses without /routes', async () => {
  const { pathName, own, answersAt, destination } = await open();
  answersAt('/base/v2');
  const Host = `${pathName}.routes.example.com`;
  expect(await call('/v1?a=b', { ...own, Host })).toEqual({
    status: 302,
    location: '/v2',
    link: `<https://${Host}/v2>; rel="next"`,
  });
  expect(destination.seen[0]?.url).toBe('/base/v1?a=b');
  expect((await call('/routes/v1', { ...own, Host })).status).toBe(302);
  expect(destination.seen[1]?.url).toBe('/base/routes/v1');
});

test.each([
  ['routes.example.com', 404],
  ['a.b.routes.example.com', 404],
  ['nothing.routes.example.com', 404],
])('at Host %s there is no route: %d', async (Host, status) => {
  const { own } = await open();
  for (const method of ['GET', 'POST', 'DELETE'])
    expect((await call('/v1', { ...own, Host }, method)).status).toBe(status);
});

test('a host of a route has nothing but the route, and no other host has it without /routes', async () => {
  const { pathName, own, destination } = await open();
  const Host = `${pathName}.routes.example.com`;
  await call('/proxy', { ...own, Host });
  await call('/reactors/x/react', { ...own, Host }, 'POST');
  expect(destination.seen.map(({ url }) => url)).toEqual(['/base/proxy', '/base/reactors/x/react']);
  expect((await call('/v1', { ...own, Host: 'other.example' })).status).toBe(404);
});

test('no answer leads to our hosts or to the one that was called, whatever made it', async () => {
  const { pathName, own, answersAt } = await open();
  for (const address of [
    'https://sluice.example.com/tokens',
    'https://theirs.routes.example.com/',
    'https://called.example/',
  ]) {
    answersAt(address);
    const answer = await call(`/routes/${pathName}`, { ...own, Host: 'called.example' });
    expect(answer).toEqual({ status: 302, location: undefined, link: undefined });
  }
  const code = `const { CustomHttpResponseError } = require('svc-errors');
    module.exports = async () => { throw new CustomHttpResponseError({ status: 302, headers: { location: 'https://sluice.example.com/tokens' } }); };`;
  const custom = await open({ requestTransform: code });
  expect(await call(`/routes/${custom.pathName}`, custom.own)).toMatchObject({ status: 302, location: undefined });
  const changing = `module.exports = async ({ args }) => ({ headers: { ...args.headers, location: 'next' } });`;
  const changed = await open({ responseTransform: changing });
  expect(await call(`/routes/${changed.pathName}/a/b`, changed.own)).toMatchObject({
    location: `/routes/${changed.pathName}/a/next`,
  });
});

test('a relative address tells no value that was put into the path', async () => {
  const { tenant } = gateway.current;
  const { pathName, own, answersAt, destination } = await open({ tokenPlaces: ['path'] });
  const token = await tenant.token({ data: 'plain-value' });
  answersAt('next');
  const path = encodeURIComponent(`{{ ${token} }}`);
  const { location = '' } = await call(`/routes/${pathName}/${path}/of`, own);
  expect(destination.seen[0]?.url).toBe('/base/plain-value/of');
  expect(location).toBe(`/routes/${pathName}/${path}/next`);
  await call(location, own);
  expect(destination.seen[1]?.url).toBe('/base/plain-value/next');
});

test.each(['a b', 'a/b', 'user@a', 'a:b', '[::1'])('Host %j is 400 on a route', async (host) => {
  const { pathName, own, destination } = await open();
  expect((await call(`/routes/${pathName}`, { ...own, Host: host })).status).toBe(400);
  expect(destination.seen).toEqual([]);
});

test('on /proxy addresses stay as the destination sent them', async () => {
  const { tenant, destination } = gateway.current;
  const { own, answersAt } = await open();
  const { key } = await tenant.proxy({ destination: `${destination.url}/base` });
  answersAt('https://sluice.example.com/tokens');
  const answer = await call('/proxy', { ...own, 'SVC-PROXY-KEY': key, Host: 'called.example' });
  expect(answer.location).toBe('https://sluice.example.com/tokens');
});
