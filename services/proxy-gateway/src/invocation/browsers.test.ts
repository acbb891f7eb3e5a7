import { openHttpClient, useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';

const hosts = { CONSOLE_HOST: 'console.localhost', FIELDS_HOST: 'fields.localhost', ROUTES_HOST: 'routes.localhost' };
const world = useStack(async (stack) => {
  const gateway = await startTestGateway(stack, hosts);
  gateway.destination.answer = (_request, response) => {
    const cookies = ['a=b; Domain=example.com; Path=/', 'c=d; Secure'];
    response.writeHead(200, {
      'Content-Type': 'text/html',
      'Content-Security-Policy': 'img-src *',
      'Set-Cookie': cookies,
      'Clear-Site-Data': '"cookies"',
    });
    response.end('<script></script>');
  };
  const { destination, tenant } = gateway;
  const custom = `const { CustomHttpResponseError } = require('svc-errors');
    module.exports = async () => { throw new CustomHttpResponseError({ status: 402, body: 'no',
      headers: { 'Clear-Site-Data': '"cookies"', 'Set-Cookie': ['a=b; Domain=example.com; Path=/', 'c=d; Secure'] } }); };`;
  const made = { destination: destination.url, requireAuth: false };
  const proxies = {
    'as it came': await tenant.proxy(made),
    transformed: await tenant.proxy({
      ...made,
      responseTransform: 'module.exports = async ({ args }) => ({ headers: args.headers, body: args.body });',
    }),
    'made by a transform': await tenant.proxy({ ...made, requestTransform: custom }),
  };
  return { ...gateway, proxies, send: openHttpClient(stack).send };
});

type Kind = keyof typeof world.current.proxies;
const kinds: Kind[] = ['as it came', 'transformed', 'made by a transform'];
const navigation = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' };

function ask(kind: Kind | undefined, headers: Record<string, string>, path = '/proxy') {
  const { url, proxies, send } = world.current;
  const key = kind ? { 'svc-proxy-key': proxies[kind].key } : undefined;
  return send({ method: 'GET', url: `${url}${path}`, headers: { ...key, ...headers } });
}

describe.each(kinds)('an answer that is %s', (kind) => {
  test('is sandboxed for a navigation, beside what its own policy says, and its cookies stay at this host', async () => {
    const { headers } = await ask(kind, navigation);
    const policies = [...(kind === 'made by a transform' ? [] : ['img-src *']), 'sandbox'];
    expect(headers['content-security-policy']).toBe(policies.join(', '));
    expect(headers['set-cookie']).toEqual(['a=b; Path=/', 'c=d; Secure']);
    expect(headers.vary).toBe('Sec-Fetch-Dest');
    expect(headers['clear-site-data']).toBeUndefined();
  });

  test('is not sandboxed for a script, so pages can still read it', async () => {
    const { headers } = await ask(kind, { ...navigation, 'sec-fetch-dest': 'empty' });
    expect(headers['content-security-policy'] ?? '').not.toContain('sandbox');
    expect(headers['set-cookie']).toEqual(['a=b; Path=/', 'c=d; Secure']);
  });

  test('is as the destination wrote it for anything but a browser', async () => {
    const { headers } = await ask(kind, {});
    expect(headers['set-cookie']).toEqual(['a=b; Domain=example.com; Path=/', 'c=d; Secure']);
    expect(headers['clear-site-data']).toBe('"cookies"');
    expect([headers.vary, headers['content-security-policy']]).toEqual([
      undefined,
      kind === 'made by a transform' ? undefined : 'img-src *',
    ]);
  });

  test('never comes for the script of a service worker, and nobody is called', async () => {
    const before = world.current.destination.seen.length;
    const { status, body } = await ask(kind, { 'service-worker': 'script', 'sec-fetch-dest': 'serviceworker' });
    expect([status, JSON.parse(body).proxy_error.status]).toEqual([403, 403]);
    expect(world.current.destination.seen).toHaveLength(before);
  });

  test.each([
    ['console.localhost', 404],
    ['fields.localhost:1', 404],
    ['shop.routes.localhost', 401], // there it is a path of the route
    ['routes.localhost', 404],
    ['CONSOLE.localhost.', 404],
  ])('never comes at %s, which is %d, and nobody is called', async (host, expected) => {
    const before = world.current.destination.seen.length;
    expect((await ask(kind, { host })).status).toBe(expected);
    expect(world.current.destination.seen).toHaveLength(before);
  });
});

test.each([
  ['without a key', '/proxy', {}, 400],
  ['of a Proxy that is not there', '/proxy', { 'svc-proxy-key': 'x'.repeat(32) }, 404],
  ['of another path', '/nowhere', {}, 404],
  ['of a WebSocket', '/proxy', { connection: 'upgrade', upgrade: 'websocket' }, 501],
])('a refusal %s is sandboxed for a navigation, and only then', async (_name, path, headers, status) => {
  const refused = await ask(undefined, { ...headers, ...navigation }, path);
  expect([refused.status, refused.headers['content-security-policy']]).toEqual([status, 'sandbox']);
  expect((await ask(undefined, headers, path)).headers['content-security-policy']).toBeUndefined();
});
