import { useStack } from '@sluice/testing';
import { invokeAt } from '../testing/invoke-at.ts';
import { shareTestGateway } from '../testing/test-gateway.ts';

/** Code gets path, query and headers as sent; their expressions have values only in the call to the destination. */
const gateway = useStack((stack) => shareTestGateway(stack));

const value = 'a b';
const returning = (what: string) => `module.exports = async ({ args }) => (${what})`;

async function setUp(requestTransform: string) {
  const { tenant, destination } = gateway.current;
  const application = await tenant.application();
  const token = await tenant.token({ data: value });
  const tokenPlaces = ['body', 'query', 'path', 'header:x-mine', 'header:content-md5', 'header:x-real-ip'];
  const proxy = await tenant.proxy({ destination: destination.url, tokenPlaces, requestTransform });
  return { token, keys: { key: application.key, proxyKey: proxy.key } };
}

type Sent = Omit<Parameters<typeof invokeAt>[1], 'proxyKey'>;

async function invoke(requestTransform: string, sent: (expression: string) => Sent) {
  const { token, keys } = await setUp(requestTransform);
  const answer = await invokeAt(gateway.current, { ...keys, ...sent(`{{ ${token} }}`) });
  const { seen } = gateway.current.destination;
  return { ...answer, expression: `{{ ${token} }}`, seen: seen.at(-1) };
}

const inHeader = (expression: string): Sent => ({ headers: { 'x-mine': `m ${expression}` } });

test('what it sees', async () => {
  const { seen, expression } = await invoke(returning('{ body: args, headers: args.headers }'), (text) => ({
    path: `/p+%41/${encodeURIComponent(text)}?q=${encodeURIComponent(text)}&r=%2b+`,
    headers: { 'x-mine': `m ${text}`, 'content-type': 'application/json' },
    body: JSON.stringify({ b: text }),
  }));
  const encoded = encodeURIComponent(expression);
  expect(JSON.parse(seen?.body ?? '')).toMatchObject({
    body: { b: value },
    method: 'POST',
    path: `/p+%41/${encoded}`,
    query: `?q=${encoded}&r=%2b+`,
    headers: { 'x-mine': `m ${expression}` },
  });
  expect(seen).toMatchObject({ url: '/p+%41/a%20b?q=a%20b&r=%2b+', headers: { 'x-mine': `m ${value}` } });
});

test.each([
  ['all headers', '{ headers: args.headers }'],
  ['no headers', '{ body: args.body }'],
  ['all that it got', 'args'],
  ['the header in another case', `{ headers: { 'X-MINE': args.headers['x-mine'] } }`],
])('a header goes out with its value where code returns %s', async (_, what) => {
  const { status, seen } = await invoke(returning(what), inHeader);
  expect({ status, header: seen?.headers['x-mine'] }).toEqual({ status: 200, header: `m ${value}` });
});

test.each([
  ['changes it', `{ 'x-mine': args.headers['x-mine'] + '!' }`, (text: string) => ({ 'x-mine': `m ${text}!` })],
  ['moves it', `{ 'x-other': args.headers['x-mine'] }`, (text: string) => ({ 'x-other': `m ${text}` })],
  ['removes it', '{ ...args.headers, "x-mine": null }', () => ({ 'x-mine': undefined })],
])('what code puts in is never searched: code that %s', async (_, headers, expected) => {
  const { status, seen, expression } = await invoke(returning(`{ headers: ${headers} }`), inHeader);
  expect(status).toBe(200);
  for (const [name, text] of Object.entries(expected(expression))) expect(seen?.headers[name]).toBe(text);
  expect(JSON.stringify(seen?.rawHeaders)).not.toContain(value);
});

test('lines of one name, which code sees as one', async () => {
  const { seen } = await invoke(returning('{ headers: args.headers }'), (text) => ({
    headers: { 'x-mine': ['1', text, `${text}3`] },
  }));
  expect(seen?.headers['x-mine']).toBe(`1, ${value}, ${value}3`);
});

test('the address of the caller and the digest of the former body are removed, with a value too', async () => {
  const headers = (text: string) => ({ 'content-md5': text, 'x-real-ip': text, 'content-type': 'application/json' });
  for (const what of ['{ body: 1, headers: args.headers }', '{ body: 1 }']) {
    const { status, seen } = await invoke(returning(what), (text) => ({ headers: headers(text), body: '{}' }));
    expect(status).toBe(200);
    expect(seen?.headers).not.toHaveProperty('content-md5');
    expect(seen?.headers).not.toHaveProperty('x-real-ip');
  }
});

test('the limit for headers of code counts no value', async () => {
  const { tenant, destination } = gateway.current;
  const application = await tenant.application();
  const [long, short] = [await tenant.token({ data: 'x'.repeat(12_000) }), await tenant.token({ data: 's' })];
  const proxy = await tenant.proxy({
    destination: destination.url,
    applicationId: application.id,
    tokenPlaces: ['header:x-mine'],
    requestHeaders: { 'X-Own': `{{ ${short} | default: '${'o'.repeat(40)}' }}`.repeat(80) },
    requestTransform: returning('{ headers: args.headers }'),
  });
  const keys = { key: application.key, proxyKey: proxy.key };
  const headers = { 'x-mine': `{{ ${long} }}` };
  expect(await invokeAt(gateway.current, { ...keys, headers })).toMatchObject({ status: 200 });
  expect(destination.seen.at(-1)?.headers).toMatchObject({ 'x-mine': 'x'.repeat(12_000), 'x-own': 's'.repeat(80) });
  // The control: a text of that length is too much
  expect(await invokeAt(gateway.current, { ...keys, headers: { 'x-mine': 'x'.repeat(12_000) } })).toMatchObject({
    status: 500,
  });
});
