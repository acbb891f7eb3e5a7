import { readFile } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { repositoryRoot } from '@sluice/local/parts';
import { Sluice } from '@sluice/sdk';
import { serveHttp, useStack } from '@sluice/testing';
import { Octokit } from 'octokit';
import OpenAI from 'openai';
import Stripe from 'stripe';
import { sharePlatform } from '../platform.ts';
import { secretKey, startAnthropic, startGitHub, startOpenAi, startStripe } from './stand-ins.ts';

/**
 * Published clients as they are: each gets a base URL and an API key of Sluice in the place of its own key. The Proxy
 * sets the key of the destination, which no caller knows.
 */
const world = useStack(async (closing) => {
  const platform = await sharePlatform();
  const { baseUrl } = platform.stack;
  const requests: string[] = [];
  const front = await startFront(closing, baseUrl, requests);
  const openAi = await startOpenAi(closing);
  const anthropic = await startAnthropic(closing);
  const stripe = await startStripe(closing);
  const gitHub = await startGitHub(closing);
  const openRoute = (pathName: string, destination_url: string, request_headers: object, accept_key_as: string[]) =>
    platform.createProxy({
      ...{ destination_url, request_headers, accept_key_as, path_name: pathName },
      configuration: { KEY: secretKey },
    });
  await openRoute('openai', `${openAi.url}/v1`, { Authorization: 'Bearer {{ config: KEY }}' }, ['bearer']);
  await openRoute('anthropic', anthropic.url, { 'X-Api-Key': '{{ config: KEY }}' }, ['x-api-key', 'bearer']);
  await openRoute('stripe', stripe.url, { Authorization: 'Bearer {{ config: KEY }}' }, ['bearer']);
  await openRoute('github', gitHub.url, { Authorization: 'token {{ config: KEY }}' }, ['bearer']);
  const newKey = async (permissions = ['token:create', 'token:use']) =>
    (await platform.createApplication({ permissions })).key;
  const tokens = new Sluice({ baseUrl, apiKey: await newKey() }).tokens;
  const tokenize = async (number: string) =>
    `{{ ${(await tokens.create({ type: 'card', data: { number } })).id} | json: '$.number' }}`;
  return { platform, tokenize, baseUrl, front, requests, openAi, anthropic, stripe, gitHub, newKey };
});

/** Notes what clients ask of the platform. */
function startFront(closing: AsyncDisposableStack, baseUrl: string, requests: string[]): Promise<string> {
  return serveHttp(closing, (request, response) => {
    const { method, url = '', headers } = request;
    requests.push(`${method} ${url}`);
    const sent = httpRequest(baseUrl + url, { method, headers }, (answer) => {
      answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.rawHeaders));
    });
    sent.on('error', () => response.destroy());
    request.pipe(sent);
  });
}

const openAiOf = (apiKey: string, options: object = {}) =>
  new OpenAI({ apiKey, baseURL: `${world.current.baseUrl}/routes/openai`, maxRetries: 0, ...options });
const anthropicOf = (keys: { apiKey: string | null; authToken?: string }, options: object = {}) =>
  new Anthropic({ ...keys, baseURL: `${world.current.baseUrl}/routes/anthropic`, maxRetries: 0, ...options });
/** It takes a host and no path: here `stripe.<ROUTES_HOST>`, which Node does not find by itself. */
function stripeByHost(key: string): Stripe {
  const { port } = new URL(world.current.baseUrl);
  const lookup = (
    _name: string,
    _options: object,
    found: (error: null, addresses: { address: string; family: number }[]) => void,
  ) => found(null, [{ address: '127.0.0.1', family: 4 }]);
  const httpAgent = new Agent({ lookup } as object);
  return new Stripe(key, {
    ...{ host: 'stripe.routes.localhost', port, protocol: 'http' },
    ...{ httpAgent, maxNetworkRetries: 0, telemetry: false },
  });
}
function stripeByLibrary(apiKey: string): Stripe {
  const { fetch } = new Sluice({ baseUrl: world.current.baseUrl, apiKey }).route('stripe');
  return new Stripe(apiKey, { httpClient: Stripe.createFetchHttpClient(fetch), maxNetworkRetries: 0 });
}
/** Its warnings about what it does not retry would fill the log of the tests. */
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const octokitOf = (auth: string, baseUrl = world.current.baseUrl) =>
  new Octokit({ auth, baseUrl: `${baseUrl}/routes/github`, log: silent, retry: { enabled: false } });

/** A key, and what ends it. */
async function openEndingApplication() {
  const { platform } = world.current;
  const { id, key } = await platform.createApplication({ permissions: ['token:use'] });
  return { key, end: () => platform.sluice.applications.delete(id) };
}

async function openEndingSession() {
  const { platform, baseUrl } = world.current;
  const backend = await platform.createApplication({ permissions: ['token:use'] });
  const page = await platform.createApplication({ type: 'public', permissions: ['token:create'] });
  const { session_key: key, nonce } = (await platform.call('POST', '/sessions', { key: page.key })).body;
  await new Sluice({ baseUrl, apiKey: backend.key }).sessions.authorize({ nonce, permissions: ['token:use'] });
  return { key, end: () => new Sluice({ baseUrl, apiKey: key }).sessions.deleteSelf() };
}

const chat = (content: string) => ({ model: 'small', messages: [{ role: 'user' as const, content }] });

describe('openai', () => {
  test('gets answers to what only a token stands for, and a list', async () => {
    const { newKey, tokenize, openAi } = world.current;
    const client = openAiOf(await newKey());
    const text = `Is ${await tokenize('4242424242424242')} a card?`;
    expect((await client.chat.completions.create(chat(text))).choices[0]?.message.content).toBe('hello');
    expect(JSON.parse(openAi.seen.at(-1) ?? '')).toMatchObject(chat('Is 4242424242424242 a card?'));
    expect((await client.models.list()).data.map(({ id: name }) => name)).toEqual(['small']);
  });

  test.each([
    ['the Application is deleted', openEndingApplication],
    ['the session ends', openEndingSession],
  ])('gets a stream while it is sent, to its end although %s, and then 401', async (_, open) => {
    const { openAi } = world.current;
    const { key, end } = await open();
    const client = openAiOf(key);
    const parts: string[] = [];
    const stream = await client.chat.completions.create({ ...chat('hello'), stream: true });
    for await (const { choices } of stream) {
      parts.push(choices[0]?.delta.content ?? '');
      if (parts.length === 1) await end();
      openAi.goOn();
    }
    expect(parts).toEqual(['a ', 'b']);
    await expect(client.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });

  test('repeats after 503 of the destination by itself', async () => {
    const { platform, newKey } = world.current;
    await using closing = new AsyncDisposableStack();
    let asked = 0;
    const destination_url = await serveHttp(closing, (_request, response) => {
      asked += 1;
      const status = asked === 1 ? 503 : 200;
      response.writeHead(status, { 'Content-Type': 'application/json' }).end('{"object":"list","data":[]}');
    });
    await platform.createProxy({ destination_url, path_name: 'busy', accept_key_as: ['bearer'] });
    const client = openAiOf(await newKey(), { baseURL: `${world.current.baseUrl}/routes/busy`, maxRetries: 1 });
    expect((await client.models.list()).data).toEqual([]);
    expect(asked).toBe(2);
  });
});

describe('@anthropic-ai/sdk', () => {
  test.each<[string, (key: string) => Parameters<typeof anthropicOf>[0]]>([
    ['X-Api-Key', (apiKey) => ({ apiKey })],
    ['Bearer', (authToken) => ({ apiKey: null, authToken })],
  ])('gets an answer, a list and a stream with its key as %s', async (_, keysOf) => {
    const { newKey, anthropic } = world.current;
    const client = anthropicOf(keysOf(await newKey()));
    const { content } = await client.messages.create({ ...chat('hello'), max_tokens: 10 });
    expect(content).toEqual([{ type: 'text', text: 'hello' }]);
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['small']);
    const parts: string[] = [];
    const stream = client.messages.stream({ ...chat('hello'), max_tokens: 10 });
    stream.on('text', (part) => {
      parts.push(part);
      anthropic.goOn();
    });
    expect(await stream.finalText()).toBe('a b');
    expect(parts).toEqual(['a ', 'b']);
  });
});

describe.each([
  ['its own http client, at the host of the route', stripeByHost],
  ["the library's fetch", stripeByLibrary],
])('stripe by %s', (_, stripeOf) => {
  test('charges a card that only a token stands for, and reads a list page by page', async () => {
    const { newKey, tokenize, stripe: standIn } = world.current;
    const stripe = stripeOf(await newKey());
    const number = await tokenize('4242424242424242');
    const card = { number, exp_month: 12, exp_year: 2030, cvc: '123' };
    const method = await stripe.paymentMethods.create({ type: 'card', card });
    expect(standIn.seen.at(-1)).toContain('card[number]=4242424242424242&');
    const made = [];
    for (let i = 0; i < 5; i++) {
      const payment = { amount: 100 + i, currency: 'eur', payment_method: method.id };
      made.push((await stripe.paymentIntents.create(payment)).id);
    }
    const listed: string[] = [];
    for await (const payment of stripe.paymentIntents.list({ limit: 2 })) listed.push(payment.id);
    expect(listed.slice(0, 5)).toEqual(made.reverse());
  });
});

describe('octokit', () => {
  test('reads three pages by paginate, all by the route', async () => {
    const { newKey, front, requests, gitHub } = world.current;
    requests.length = 0;
    const octokit = octokitOf(await newKey(), front);
    const repositories = await octokit.paginate(octokit.rest.repos.listForAuthenticatedUser);
    expect(repositories.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(requests).toEqual([
      'GET /routes/github/user/repos',
      'GET /routes/github/user/repos?page=2',
      'GET /routes/github/user/repos?page=3',
    ]);
    expect(gitHub.seen.slice(-3)).toEqual(requests.map((line) => line.replace('/routes/github', '')));
  });

  test('follows an absolute and a relative redirect by the route', async () => {
    const { newKey, front, requests, gitHub } = world.current;
    gitHub.redirects.set('/repos/a/absolute', `${gitHub.url}/repositories/1`);
    gitHub.redirects.set('/repos/a/relative', '../../repositories/2');
    const octokit = octokitOf(await newKey(), front);
    requests.length = 0;
    const ids = [];
    for (const repo of ['absolute', 'relative']) ids.push((await octokit.rest.repos.get({ owner: 'a', repo })).data.id);
    expect(ids).toEqual([1, 2]);
    expect(requests).toEqual([
      ...['GET /routes/github/repos/a/absolute', 'GET /routes/github/repositories/1'],
      ...['GET /routes/github/repos/a/relative', 'GET /routes/github/repositories/2'],
    ]);
  });

  test('is led by no redirect to our API', async () => {
    const { newKey, baseUrl, front, requests, gitHub } = world.current;
    const octokit = octokitOf(await newKey(), front);
    requests.length = 0;
    const addresses = [`${front}/tokens`, `${baseUrl}/tokens`, `//${new URL(baseUrl).host}/tokens`];
    for (const address of addresses) {
      gitHub.redirects.set('/repos/a/hostile', address);
      const { status, headers } = await octokit.request('GET /repos/a/hostile');
      expect([status, headers.location]).toEqual([301, undefined]);
    }
    expect(requests).toEqual(addresses.map(() => 'GET /routes/github/repos/a/hostile'));
  });
});

type Call = (key: string) => Promise<unknown>;

const calls: [string, Call, new (...args: never[]) => Error][] = [
  ['openai', (key) => openAiOf(key).models.list().then(), OpenAI.APIError],
  ['@anthropic-ai/sdk', (apiKey) => anthropicOf({ apiKey }).models.list().then(), Anthropic.APIError],
  ['stripe, by host', (key) => stripeByHost(key).paymentIntents.list().then(), Stripe.errors.StripeError],
  ['stripe, by the library', (key) => stripeByLibrary(key).paymentIntents.list().then(), Stripe.errors.StripeError],
  ['octokit', (key) => octokitOf(key).request('GET /user/repos'), Error],
];

test.each(calls)('in %s a refusal is its own exception, with our text', async (_, call, Failure) => {
  const { newKey } = world.current;
  const outcomeOf = async (key: string) => {
    const error = await call(key).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const { status, statusCode, message } = error as { status?: number; statusCode?: number; message: string };
    return [error instanceof Failure, status ?? statusCode, message];
  };
  const own = await newKey(['token:create']);
  expect(await outcomeOf('svc_local_prv_wrong')).toEqual([true, 401, expect.stringMatching(/key/i)]);
  expect(await outcomeOf(own)).toEqual([true, 403, expect.stringContaining('token:use')]);
});

test('the guide names the versions that run here', async () => {
  const guide = await readFile(join(repositoryRoot, 'infra/guides/call-with-stock-clients.md'), 'utf8');
  const rows = [...guide.matchAll(/^\| npm `([^`]+)` \| ([^ ]+) \|/gm)].map(([, name = '', version]) => [
    name,
    version,
  ]);
  const installed = rows.map(async ([name = '']) => {
    const text = await readFile(join(repositoryRoot, 'node_modules', name, 'package.json'), 'utf8');
    return [name, JSON.parse(text).version];
  });
  expect(rows).toHaveLength(4);
  expect(rows).toEqual(await Promise.all(installed));
});
