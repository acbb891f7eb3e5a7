import { AuthenticationError, Sluice } from './index.ts';
import { startScripted } from './testing/scripted-server.ts';

test('a client of the console calls /api by the cookie, with its header and without a key', async () => {
  await using stack = new AsyncDisposableStack();
  const { seen, baseUrl } = await startScripted(stack, [{ status: 200, body: { tenant: { id: '1', name: 'A' } } }]);
  const sluice = new Sluice({ console: true, baseUrl, headerPrefix: 'ACME' });
  expect(await sluice.console.me()).toMatchObject({ tenant: { name: 'A' } });
  await sluice.applications.get('1');
  expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /api/me', 'GET /api/applications/1']);
  for (const { headers } of seen) {
    expect(headers).toMatchObject({ 'acme-console': '1' });
    expect(Object.keys(headers).filter((name) => name.endsWith('api-key'))).toEqual([]);
  }
});

test('in a page its address is the origin of the page', async () => {
  const urls: string[] = [];
  const fetch = async (url: unknown) => {
    urls.push(String(url));
    return new Response('[]');
  };
  Object.defineProperty(globalThis, 'location', { value: { origin: 'https://console.example' }, configurable: true });
  try {
    await new Sluice({ console: true, fetch }).permissions.list().toArray();
  } finally {
    Reflect.deleteProperty(globalThis, 'location');
  }
  expect(urls).toEqual(['https://console.example/api/permissions']);
});

test('outside of a page it needs an address', () => {
  expect(() => new Sluice({ console: true })).toThrow(
    new TypeError('baseUrl must be like https://sluice.example.com: no user, query or fragment'),
  );
});

test('a confirmation is given to the caller, a refusal is an error', async () => {
  await using stack = new AsyncDisposableStack();
  const { baseUrl } = await startScripted(stack, [
    { status: 204, headers: { 'svc-revocation': 'change=1, holders=2, waited_ms=3' } },
    { status: 401, headers: { 'svc-revocation': 'none' } },
  ]);
  const sluice = new Sluice({ console: true, baseUrl });
  const confirmations: (string | null)[] = [];
  const onHeaders = (headers: Headers) => confirmations.push(headers.get('SVC-REVOCATION'));
  await sluice.applications.delete('1', { onHeaders });
  await expect(sluice.applications.delete('1', { onHeaders })).rejects.toThrow(AuthenticationError);
  expect(confirmations).toEqual(['change=1, holders=2, waited_ms=3']);
});
