import { apiKey, lost, type Step, startScripted } from './scripted-server-for-tests.ts';

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
