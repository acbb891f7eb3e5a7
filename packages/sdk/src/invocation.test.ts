import { NotFoundError, ServiceError, type SluiceError } from './index.ts';
import { apiKey, lost, type Step, startScripted } from './testing/scripted-server.ts';

const ok: Step = { status: 200, body: {} };

test.each([
  ['', '/proxy'],
  ['/', '/proxy/'],
  ['charges', '/proxy/charges'],
  ['/charges/1?expand=a&b=%20', '/proxy/charges/1?expand=a&b=%20'],
  ['?a=1', '/proxy?a=1'],
  ['/a/../b#part', '/proxy/b'],
  ['https://api.example.com', '/proxy'],
  ['https://api.example.com/v1/charges?x=1', '/proxy/v1/charges?x=1'],
  [new URL('https://api.example.com/v1'), '/proxy/v1'],
])('fetch(%p) goes to %s', async (input, expected) => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [ok]);
  await sluice.proxy('abc').fetch(input);
  expect(seen).toEqual([expect.objectContaining({ method: 'GET', url: expected })]);
  expect(seen[0]?.headers).toMatchObject({ 'svc-api-key': apiKey, 'svc-proxy-key': 'abc' });
});

test.each(['/../applications', '/a/../../tokens', '/%2e%2e/tokens', '/.%2E/tokens', '\\..\\..\\tokens', '/..\\tokens'])(
  'a path that would leave the Proxy is refused, and nothing sent: %s',
  async (path) => {
    await using stack = new AsyncDisposableStack();
    const { seen, sluice } = await startScripted(stack, [ok]);
    await expect(sluice.proxy('abc').fetch(path)).rejects.toThrow(TypeError);
    expect(seen).toEqual([]);
  },
);

test('method, headers and body go as they are, and nobody else’s keys', async () => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [ok]);
  const headers = { Authorization: 'Bearer theirs', 'SVC-PROXY-KEY': 'other', 'svc-api-key': 'other' };
  await sluice.proxy('abc').fetch('/x', { method: 'PATCH', headers, body: '{"a":"{{ t }}"}' });
  expect(seen[0]).toMatchObject({
    method: 'PATCH',
    body: '{"a":"{{ t }}"}',
    headers: { authorization: 'Bearer theirs', 'svc-proxy-key': 'abc', 'svc-api-key': apiKey },
  });
});

test('a Request is taken as fetch takes it, so that a client of the destination can be given this fetch', async () => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [ok]);
  const { fetch } = sluice.proxy('abc');
  const request = new Request('https://api.example.com/v1/charges', {
    method: 'POST',
    body: 'a=1',
    headers: { 'X-A': '1' },
  });
  await fetch(request);
  expect(seen[0]).toMatchObject({
    method: 'POST',
    url: '/proxy/v1/charges',
    body: 'a=1',
    headers: { 'x-a': '1', 'svc-proxy-key': 'abc' },
  });
});

test.each<[string, Step]>([
  ['429', { status: 429, headers: { 'retry-after': '0' } }],
  ['503', { status: 503, headers: { 'retry-after': '0' } }],
  ['500', { status: 500, body: { proxy_error: {} } }],
])('%s is returned, and nothing sent again', async (status, step) => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [step, ok]);
  expect((await sluice.proxy('abc').fetch('/x')).status).toBe(Number(status));
  expect(seen).toHaveLength(1);
});

test('a lost connection rejects, and nothing is sent again', async () => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [lost, ok]);
  await expect(sluice.proxy('abc').fetch('/x')).rejects.toThrow();
  expect(seen).toHaveLength(1);
});

test('a redirect is returned as it is, whatever was asked for', async () => {
  await using stack = new AsyncDisposableStack();
  const { seen, baseUrl, sluice } = await startScripted(stack, [
    { status: 302, headers: { location: '/elsewhere' } },
    ok,
  ]);
  const answer = await sluice.proxy('abc').fetch(`${baseUrl}/x`, { redirect: 'follow' });
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/elsewhere']);
  expect(seen).toHaveLength(1);
});

test('a signal ends it', async () => {
  await using stack = new AsyncDisposableStack();
  const { sluice } = await startScripted(stack, [() => {}]);
  await expect(sluice.proxy('abc').fetch('/x', { signal: AbortSignal.timeout(20) })).rejects.toThrow();
});

test.each(['', 'a b', 'a\nb'])('a key that cannot be one is refused, and not repeated: %j', async (key) => {
  await using stack = new AsyncDisposableStack();
  const { sluice } = await startScripted(stack, [ok]);
  expect(() => sluice.proxy(key)).toThrow(new TypeError('The key of a Proxy has no blanks'));
});

const refusal = (status: number, code: string, detail: string): Step => ({
  status,
  headers: { 'svc-trace-id': 'trace-1', 'retry-after': '0' },
  body: {
    proxy_error: { type: `https://x.example/problems:${code}`, title: 'A title', status, detail, instance: 'trace-1' },
    error: { type: `sluice_${code}`, code, message: detail },
  },
});

test.each<[number, string, new (...args: never[]) => SluiceError]>([
  [404, 'not_found', NotFoundError],
  [502, 'destination_unreachable', ServiceError],
  [503, 'unavailable', ServiceError],
])('send rejects with what the service refused, once: %i %s', async (status, code, Kind) => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [refusal(status, code, 'No such thing')]);
  const failure = await sluice
    .proxy('abc')
    .send('/cards/4242424242424242', { method: 'POST' })
    .catch((error) => error);
  expect(failure).toBeInstanceOf(Kind);
  expect(failure).toMatchObject({ status, code, detail: 'No such thing', traceId: 'trace-1', retryAfterSeconds: 0 });
  expect(failure.message).toBe(`POST /proxy: No such thing (status ${status}, trace trace-1)`);
  expect(seen).toHaveLength(1);
  expect((await sluice.proxy('abc').fetch('/x')).status).toBe(status); // as fetch resolves
});

test('what the destination answered resolves in send, whatever its status and body', async () => {
  await using stack = new AsyncDisposableStack();
  const own = { proxy_error: { title: 'of a Proxy behind the destination' } };
  const { seen, sluice } = await startScripted(stack, [
    { status: 502, headers: { 'svc-proxy-destination-status': '502' }, body: own },
    { status: 302, headers: { 'svc-proxy-destination-status': '302', location: '/elsewhere' } },
  ]);
  const answer = await sluice.proxy('abc').send('/x');
  expect([answer.status, await answer.json()]).toEqual([502, own]);
  expect((await sluice.proxy('abc').send('/x', { redirect: 'follow' })).headers.get('location')).toBe('/elsewhere');
  expect(seen).toHaveLength(2);
});

test('an answer of neither, as of a balancer, resolves in send and can be read', async () => {
  await using stack = new AsyncDisposableStack();
  const { sluice } = await startScripted(stack, [
    { status: 502, body: 'Bad Gateway' },
    { status: 200, body: [] },
  ]);
  const answer = await sluice.proxy('abc').send('/x');
  expect([answer.status, await answer.text()]).toEqual([502, 'Bad Gateway']);
  expect(await (await sluice.proxy('abc').send('/x')).json()).toEqual([]);
});

describe('a route', () => {
  test.each([
    ['', '/routes/model'],
    ['/v1/chat?x=1', '/routes/model/v1/chat?x=1'],
    ['https://api.example.com/v1/chat', '/routes/model/v1/chat'],
  ])('is called with the API key and no key of a Proxy: %j goes to %s', async (input, expected) => {
    await using stack = new AsyncDisposableStack();
    const { seen, sluice } = await startScripted(stack, [ok]);
    await sluice.route('model').fetch(input, { headers: { Authorization: 'Bearer theirs' } });
    expect(seen).toEqual([expect.objectContaining({ method: 'GET', url: expected })]);
    expect(seen[0]?.headers).toMatchObject({ 'svc-api-key': apiKey, authorization: 'Bearer theirs' });
    expect(seen[0]?.headers).not.toHaveProperty('svc-proxy-key');
  });

  test.each(['/../other', '/../../tokens', '/%2e%2e/tokens'])('is not left by %s', async (path) => {
    await using stack = new AsyncDisposableStack();
    const { seen, sluice } = await startScripted(stack, [ok]);
    await expect(sluice.route('model').fetch(path)).rejects.toThrow(TypeError);
    expect(seen).toEqual([]);
  });

  test.each(['', 'A', 'a/b', '../tokens', 'a.b', '-a'])('has a path_name, and %j is none', async (name) => {
    await using stack = new AsyncDisposableStack();
    const { sluice } = await startScripted(stack, [ok]);
    expect(() => sluice.route(name)).toThrow(TypeError);
  });

  test('send rejects where the service refused', async () => {
    await using stack = new AsyncDisposableStack();
    const problem = { type: 'urn:sluice:problem:not_found', title: 'Not found', status: 404 };
    const { sluice } = await startScripted(stack, [{ status: 404, body: { proxy_error: problem } }]);
    await expect(sluice.route('model').send('/secret')).rejects.toThrow(/^GET \/routes\/model: Not found/);
  });
});
