import { format, inspect } from 'node:util';
import { Sluice } from './index.ts';
import { apiKey, lost, type Step, startScripted } from './testing/scripted-server.ts';

const value = '4242424242424242';
const secret = 'sk_live_of_the_processor';

/** All ways to show an object without naming its members. */
const shown = (thing: unknown) =>
  [inspect(thing, { depth: 9, showHidden: true }), format('%o %O %s', thing, thing, thing), String(thing)].join('\n');

test('a client shows no key', () => {
  const sluice = new Sluice({ baseUrl: 'https://sluice.example.com', apiKey });
  expect(`${shown(sluice)} ${JSON.stringify(sluice)} ${shown(sluice.proxy('proxykey'))}`).not.toMatch(
    /svc_local|proxykey/,
  );
});

const token = { id: 't', type: 'card', data: { number: value } };
const pagination = { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 };
test.each<[string, unknown, (sluice: Sluice) => Promise<unknown>, string]>([
  ['a token', token, (sluice) => sluice.tokens.get('t'), 'card'],
  ['a token whose data are a list', { ...token, data: [value] }, (sluice) => sluice.tokens.get('t'), 'card'],
  ['a page of tokens', { pagination, data: [token] }, (sluice) => sluice.tokens.list().page(), 'card'],
  ['a list of tokens', { pagination, data: [token] }, (sluice) => sluice.tokens.list().toArray(), 'card'],
  ['an Application with its key', { id: 'a', name: 'n', key: apiKey }, (sluice) => sluice.applications.get('a'), 'n'],
  [
    'a Proxy with its secrets',
    { id: 'p', name: 'n', key: 'proxykey', configuration: { secret }, request_headers: { 'X-Key': secret } },
    (sluice) => sluice.proxies.get('p'),
    'n',
  ],
  [
    'what a transform gave and wrote',
    { result: { body: value }, error: { title: value }, console: [{ level: 'info', text: value }], duration_ms: 3 },
    (sluice) => sluice.proxies.testTransform({ code: '', args: {} }),
    'duration_ms',
  ],
  ['a tokenized document', { cards: [{ main: token }] }, (sluice) => sluice.tokenize({}), 'card'],
  ['a tokenized token', token, (sluice) => sluice.tokenize({}), 'card'],
  ['what was detokenized', { card: [value] }, (sluice) => sluice.detokenize('{{ t }}'), ''],
])('%s shows neither values nor keys, and has them for programs', async (_name, body, call, visible) => {
  await using stack = new AsyncDisposableStack();
  const { sluice } = await startScripted(stack, [{ status: 200, body }]);
  const answer = await call(sluice);
  expect(shown(answer)).not.toMatch(/4242|svc_local|proxykey|sk_live/);
  expect(shown([answer])).not.toMatch(/4242|svc_local|proxykey|sk_live/);
  expect(shown(answer)).toContain(visible);
  expect(JSON.stringify(answer)).toMatch(/4242|svc_local|proxykey|sk_live/);
});

test('a part of a tokenized document shows no values either', async () => {
  await using stack = new AsyncDisposableStack();
  const { sluice } = await startScripted(stack, [{ status: 200, body: { cards: [{ main: token }], none: null } }]);
  const { cards } = (await sluice.tokenize({})) as { cards: { main: object }[] };
  expect(`${shown(cards)} ${shown(cards[0]?.main)}`).not.toContain('4242');
  expect(cards[0]?.main).toEqual(token);
});

test.each<[string, Step]>([
  ['a refusal', { status: 400, body: { title: 'No', status: 400, detail: 'Bad' } }],
  [
    'a refusal that repeats the request',
    (request, response) => response.writeHead(418).end(`${request.headers['svc-api-key']} ${value}`),
  ],
  ['an answer that is no JSON', { status: 200, body: `{"data": ${value}x` }],
  ['a lost connection', lost],
  ['an answer that never comes', () => {}],
])('errors hold neither: %s', async (_name, step) => {
  await using stack = new AsyncDisposableStack();
  const { sluice } = await startScripted(stack, [step], { retries: 0, timeoutMs: 500 });
  const error = await sluice.tokens.create({ data: value }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect(`${shown(error)} ${JSON.stringify(error)} ${(error as Error).stack}`).not.toMatch(/4242|svc_local/);
});

test('errors of a fetch of the user, which may hold the request, are not handed on', async () => {
  const fetch = (_url: unknown, init: unknown) =>
    Promise.reject(Object.assign(new Error(`failed: ${JSON.stringify(init)} ${apiKey}`), { init, code: 'ESOMETHING' }));
  const sluice = new Sluice({ baseUrl: 'https://sluice.example.com', apiKey, retries: 0, fetch });
  const error = await sluice.tokens.create({ data: value }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'ESOMETHING' });
  expect(shown(error)).not.toMatch(/4242|svc_local/);
});
