import { once } from 'node:events';
import { get } from 'node:http';
import { listen } from '@sluice/service-runtime';
import { type Answer, type CallOptions, call, useStack } from '@sluice/testing';
import pino from 'pino';
import { anonymousOperationsOf, cookiesNamed, created, createHttpServer, expressApi, operationsOf } from './index.ts';

const name = '__Host-test';

async function startApi(stack: AsyncDisposableStack) {
  const operation = operationsOf<object>();
  const shared = { tag: 'T', summary: 'S' } as const;
  const operations = [
    operation({ ...shared, id: 'list', method: 'get', path: '/things', response: { 200: {} }, handle: async () => [] }),
    operation({
      ...shared,
      id: 'make',
      method: 'post',
      path: '/things',
      idempotent: false,
      cors: true,
      response: { 201: {} },
      handle: async () => created('/things', { id: 'a' }),
    }),
    operation({
      ...shared,
      id: 'export',
      method: 'get',
      path: '/things/export',
      isDownload: true,
      response: { 200: {} },
      handle: async () => [],
    }),
  ];
  const anonymousOperations = [
    anonymousOperationsOf<object>()({
      ...shared,
      id: 'enter',
      method: 'post',
      path: '/enter',
      body: { type: 'object', required: ['secret'], properties: { secret: { type: 'string' } } } as const,
      response: { 200: {} },
      handle: async ({ body, request }) => ({ secret: body.secret, cookies: cookiesNamed(request, name) }),
    }),
  ];
  const app = expressApi({
    operations,
    anonymousOperations,
    byCookie: true,
    context: {},
    authenticate: () => ({ id: 'a', tenantId: 'a', type: 'user', permissions: [], rules: [] }),
    headerPrefix: 'ACME',
    corsOrigins: '*',
    log: pino({ level: 'silent' }),
  });
  return listen(createHttpServer(app), { host: '127.0.0.1', port: 0, stack });
}

const port = useStack((stack) => startApi(stack));
const own = { 'Sec-Fetch-Site': 'same-origin' };
const writing = { ...own, 'ACME-CONSOLE': '1' };
const send = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
  call(`http://127.0.0.1:${port.current}`, method, path, options);

test('operations stand under /api only, and say so in Location', async () => {
  const found = await send('GET', '/api/things', { headers: own });
  expect([found.status, found.headers.get('x-content-type-options')]).toEqual([200, 'nosniff']);
  expect((await send('GET', '/things', { headers: own })).status).toBe(404);
  const made = await send('POST', '/api/things', { headers: writing });
  expect([made.status, made.headers.get('location')]).toEqual([201, '/api/things/a']);
  expect((await send('PUT', '/api/things', { headers: writing })).headers.get('allow')).toBe('GET, HEAD, POST');
});

test.each(['cross-site', 'same-site', 'none', '', 'same-origin, same-origin', undefined])(
  'what a browser sends with Sec-Fetch-Site: %s is refused first, reads and unknown paths included',
  async (site) => {
    const headers = site === undefined ? {} : { 'Sec-Fetch-Site': site };
    for (const path of ['/api/things', '/api/enter', '/api/nothing', '/api', '/api/']) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const answer = await send(method, path, { headers: { ...headers, 'ACME-CONSOLE': '1' } });
        expect([method, path, answer.status]).toEqual([method, path, 403]);
        expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin');
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      }
    }
  },
);

test('two lines of Sec-Fetch-Site are refused', async () => {
  const headers = { 'Sec-Fetch-Site': ['same-origin', 'same-origin'] };
  const [answer] = await once(get({ port: port.current, path: '/api/things', headers }), 'response');
  expect(answer.resume().statusCode).toBe(403);
});

test.each([undefined, '0', 'true', '1, 1'])('to write, the header must be 1 and not %s', async (value) => {
  const headers = { ...own, ...(value !== undefined && { 'ACME-CONSOLE': value }), 'SVC-CONSOLE': '1' };
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const answer = await send(method, '/api/things', { headers });
    expect([method, answer.status]).toEqual([method, 403]);
    expect(answer.body.detail).toContain('ACME-CONSOLE');
  }
  expect((await send('GET', '/api/things', { headers })).status).toBe(200);
});

test("a download answers a person's own navigation too, and only reading does", async () => {
  const headers = { 'Sec-Fetch-Site': 'none' };
  expect((await send('GET', '/api/things/export', { headers })).status).toBe(200);
  expect((await send('HEAD', '/api/things/export', { headers })).status).toBe(200);
  expect((await send('GET', '/api/things/export', { headers: { 'Sec-Fetch-Site': 'cross-site' } })).status).toBe(403);
  expect((await send('POST', '/api/things/export', { headers: { ...headers, 'ACME-CONSOLE': '1' } })).status).toBe(403);
});

describe('an anonymous operation', () => {
  test('checks its body and asks for no caller', async () => {
    const enter = (body: unknown, headers: Record<string, string> = {}) =>
      send('POST', '/api/enter', { body, headers: { ...writing, ...headers } });
    expect((await enter({ secret: 'a' })).body).toEqual({ secret: 'a', cookies: [] });
    expect((await enter({})).status).toBe(400);
    expect((await enter('{')).status).toBe(400);
    expect((await enter('secret=a', { 'Content-Type': 'text/plain' })).status).toBe(415);
    expect((await enter({ secret: 'a'.repeat(20_000) })).status).toBe(413);
    expect((await send('GET', '/api/enter', { headers: own })).status).toBe(405);
  });

  test.each([
    ['', []],
    [`${name}=a`, ['a']],
    [`x=${name}=a; ${name}=b;y=1; ${name}=c=d`, ['b', 'c=d']],
    [`X${name}=a; __host-test=b`, []],
  ])('sees all cookies of a name in %j', async (cookie, expected) => {
    const { body } = await send('POST', '/api/enter', {
      body: { secret: 'a' },
      headers: { ...writing, Cookie: cookie },
    });
    expect(body.cookies).toEqual(expected);
  });
});
