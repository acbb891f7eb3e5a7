import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import { eventually, useStack } from '@sluice/testing';
import OpenAI from 'openai';
import Stripe from 'stripe';
import { defaultAnswer, type TestDestination } from '../testing/test-destination.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

/** The destination needs longer than this, so that it stands for the 25 s of the default. */
const headMs = 500;
const gateway = useStack((stack) => startTestGateway(stack, { DESTINATION_HEAD_TIMEOUT_MS: `${headMs}` }));

interface Way {
  url: string;
  keys: Record<string, string>;
}

/** Published clients with their default retries, each with one call that costs money. */
const clients = {
  openai: ({ url, keys }: Way): Promise<unknown> =>
    new OpenAI({ apiKey: 'theirs', baseURL: `${url}/proxy/v1`, defaultHeaders: keys }).chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'think' }],
    }),
  '@anthropic-ai/sdk': ({ url, keys }: Way): Promise<unknown> =>
    new Anthropic({ apiKey: 'theirs', baseURL: `${url}/proxy`, defaultHeaders: keys }).messages.create({
      model: 'm',
      max_tokens: 10,
      messages: [{ role: 'user', content: 'think' }],
    }),
  stripe: ({ url, keys }: Way): Promise<unknown> => {
    const through: typeof fetch = (address, init) => {
      const { pathname, search } = new URL(String(address));
      const headers = { ...(init?.headers as Record<string, string>), ...keys };
      return fetch(`${url}/proxy${pathname}${search}`, { ...init, headers });
    };
    return new Stripe('theirs', { httpClient: Stripe.createFetchHttpClient(through) }).paymentIntents
      .create({ amount: 1, currency: 'eur' })
      .then();
  },
};
const names = Object.keys(clients) as (keyof typeof clients)[];

/** A request with the key of a former one has no further effect, as Stripe promises. */
function actsOf({ seen }: TestDestination): number {
  return new Set(seen.map(({ headers }) => headers['idempotency-key'] ?? randomUUID())).size;
}

const isSilent: RequestListener = () => undefined;
const resets: RequestListener = (request) => void request.socket.resetAndDestroy();
const isDown: RequestListener = (_request, response) => void response.writeHead(503).end();

async function open(parts: Partial<ProxyParts> = {}, answer: RequestListener = defaultAnswer) {
  const { tenant, destination, url } = gateway.current;
  destination.seen.length = 0;
  destination.answer = answer;
  const proxy = await tenant.proxy({ destination: destination.url, ...parts });
  const keys = { 'SVC-API-KEY': (await tenant.application()).key, 'SVC-PROXY-KEY': proxy.key };
  return { destination, way: { url, keys } };
}

async function startStoppable() {
  const stack = new AsyncDisposableStack();
  const draining = new AbortController();
  const settings = { SHUTDOWN_TIMEOUT_MS: '300', DESTINATION_HEAD_TIMEOUT_MS: '60000' };
  const { url } = await gateway.current.startAnother(settings, { stack, draining: draining.signal });
  const stop = () => {
    draining.abort();
    return stack.disposeAsync();
  };
  return { url, stop };
}

describe.each(names)('%s with its default retries', (name) => {
  const call = clients[name];

  test('a destination that needs longer than the time limit acts once', async () => {
    const { destination, way } = await open({}, isSilent);
    await expect(call(way)).rejects.toMatchObject({ message: expect.stringContaining('did not answer in time') });
    expect(actsOf(destination)).toBe(1);
  });

  test('a destination that resets the connection after it has acted acts once', async () => {
    const { destination, way } = await open({}, resets);
    await expect(call(way)).rejects.toMatchObject({ message: expect.stringContaining('closed the connection') });
    expect(actsOf(destination)).toBe(1);
  });

  test.each([
    ['an error', 'throw new Error("no")'],
    ['that there are too many requests', 'throw new (require("svc-errors").RateLimitError)("no")'],
  ])('a destination acts once where the response transform throws %s', async (_, thrown) => {
    const { destination, way } = await open({ responseTransform: `module.exports = async () => { ${thrown}; };` });
    await expect(call(way)).rejects.toThrow();
    expect(actsOf(destination)).toBe(1);
  });

  test('a destination acts once where the gateway stops before the answer', async () => {
    const { destination, way } = await open({}, isSilent);
    const { url, stop } = await startStoppable();
    const outcome = call({ ...way, url }).catch((error) => error);
    await eventually('the call', () => destination.seen.length === 1);
    await stop();
    expect(await outcome).toBeInstanceOf(Error);
    expect(actsOf(destination)).toBe(1);
  });
});

test('a 503 of the destination passes as it is, and the client repeats the call', async () => {
  const { destination, way } = await open({}, isDown);
  await expect(clients.openai(way)).rejects.toMatchObject({ status: 503 });
  expect(actsOf(destination)).toBe(3);
});

/** Keep-Alive of the caller's own takes the other transport. */
describe.each([
  ['held', {}],
  ['streamed', { 'SVC-PROXY-KEEP-ALIVE': 'timeout=5' }],
])('%s', (_, more) => {
  const ask = async ({ url, keys }: Way, method: string, headers: Record<string, string> = {}) => {
    const body = method === 'GET' ? null : '{}';
    const { status, headers: got } = await fetch(`${url}/proxy`, {
      method,
      headers: { 'Content-Type': 'application/json', ...keys, ...more, ...headers },
      body,
    });
    return [status, got.get('x-should-retry'), got.get('svc-proxy-destination-status')];
  };

  test.each([
    ['POST', {}, 'false'],
    ['PATCH', {}, 'false'],
    ['POST', { 'Idempotency-Key': '' }, 'false'],
    ['POST', { 'Idempotency-Key': 'k' }, null],
    ['PUT', {}, null],
    ['DELETE', {}, null],
    ['GET', {}, null],
  ])('after a reset %s %j has x-should-retry %s', async (method, headers, shouldRetry) => {
    const { way } = await open({}, resets);
    expect(await ask(way, method, headers)).toEqual([502, shouldRetry, null]);
  });

  test('a Proxy may give its destination more time than the default, or less', async () => {
    const late: RequestListener = (_request, response) =>
      void setTimeout(() => defaultAnswer(_request, response), 3 * headMs);
    const patient = await open({ headTimeoutS: 600 }, late);
    expect(await ask(patient.way, 'POST')).toEqual([200, null, '200']);
    const usual = await open({}, late);
    expect(await ask(usual.way, 'POST')).toEqual([504, 'false', null]);
    const { url, stop } = await startStoppable();
    const hasty = await open({ headTimeoutS: 1 }, isSilent);
    expect(await ask({ ...hasty.way, url }, 'POST')).toEqual([504, 'false', null]);
    await stop();
  });

  test('what the destination is sent counts, not what the caller sent', async () => {
    const requestTransform = `module.exports = async ({ args }) =>
      ({ headers: { ...args.headers, 'idempotency-key': args.headers['x-key'] ?? null } });`;
    const { way } = await open({ requestTransform }, resets);
    expect(await ask(way, 'POST', { 'Idempotency-Key': 'k' })).toEqual([502, 'false', null]);
    expect(await ask(way, 'POST', { 'X-Key': 'k' })).toEqual([502, null, null]);
  });

  test('nothing is said of a call that was never sent', async () => {
    const { way } = await open({ destination: 'http://127.0.0.1:1' });
    expect(await ask(way, 'POST')).toEqual([502, null, null]);
  });

  test('a gateway that stops answers a call that has no head with 503, and finishes an answer that has begun', async () => {
    const waiting: (() => void)[] = [];
    const { destination, way } = await open({}, (request, response) => {
      if (request.url !== '/begun') return;
      response.writeHead(200, { 'Content-Length': 2 }).write('a');
      waiting.push(() => response.end('b'));
    });
    const { url, stop } = await startStoppable();
    const begun = await fetch(`${url}/proxy/begun`, { headers: { ...way.keys, ...more } });
    const silent = ask({ ...way, url }, 'POST');
    await eventually('the second call', () => destination.seen.length === 2);
    const stopped = stop();
    expect(await silent).toEqual([503, 'false', null]);
    for (const finish of waiting) finish();
    expect(await begun.text()).toBe('ab');
    await stopped;
  });
});
