import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { repositoryRoot } from '@sluice/local/parts';
import { Sluice } from '@sluice/sdk';
import { serveHttp, useStack } from '@sluice/testing';
import OpenAI from 'openai';
import Stripe from 'stripe';
import { sharePlatform } from '../platform.ts';
import { declinedNumber, type StandIn, secretKey, startAnthropic, startOpenAi, startStripe } from './stand-ins.ts';

/** How a caller reaches the destination. */
interface Route {
  baseUrl: string;
  apiKey: string;
  proxyKey: string;
  /** The destination's own key. */
  theirKey?: string;
  maxRetries?: number;
  fetch?: typeof fetch;
}

const headersOf = ({ apiKey, proxyKey }: Route) => ({ 'SVC-API-KEY': apiKey, 'SVC-PROXY-KEY': proxyKey });

const stripeOf = ({ proxyKey, theirKey = secretKey, maxRetries = 0, ...options }: Route) => {
  const { fetch } = new Sluice(options).proxy(proxyKey);
  return new Stripe(theirKey, { httpClient: Stripe.createFetchHttpClient(fetch), maxNetworkRetries: maxRetries });
};
const openAiOf = ({ baseUrl, theirKey = secretKey, maxRetries = 0, fetch, ...route }: Route) =>
  new OpenAI({
    ...{ apiKey: theirKey, baseURL: `${baseUrl}/proxy`, maxRetries, ...(fetch && { fetch }) },
    defaultHeaders: headersOf({ baseUrl, ...route }),
  });
const anthropicOf = ({ baseUrl, theirKey = secretKey, maxRetries = 0, fetch, ...route }: Route) =>
  new Anthropic({
    ...{ apiKey: theirKey, baseURL: `${baseUrl}/proxy`, maxRetries, ...(fetch && { fetch }) },
    defaultHeaders: headersOf({ baseUrl, ...route }),
  });

const createMethod = (stripe: Stripe, number: string) =>
  stripe.paymentMethods.create({ type: 'card', card: { number, exp_month: 12, exp_year: 2030, cvc: '123' } });
const chat = (content: string) => ({ model: 'small', messages: [{ role: 'user' as const, content }] });

const list = {
  stripe: (route: Route): Promise<unknown> => stripeOf(route).paymentIntents.list().then(),
  openai: (route: Route): Promise<unknown> => openAiOf(route).models.list().then(),
  '@anthropic-ai/sdk': (route: Route): Promise<unknown> => anthropicOf(route).models.list().then(),
};

/** The clients, each with a call that sends a text which may hold an expression. */
const clients = {
  stripe: {
    start: startStripe,
    path: '',
    call: (route: Route, text: string): Promise<unknown> => createMethod(stripeOf(route), text),
    Failure: Stripe.errors.StripeError,
  },
  openai: {
    start: startOpenAi,
    path: '/v1',
    call: (route: Route, text: string): Promise<unknown> => openAiOf(route).chat.completions.create(chat(text)),
    Failure: OpenAI.APIError,
  },
  '@anthropic-ai/sdk': {
    start: startAnthropic,
    path: '',
    call: (route: Route, text: string): Promise<unknown> =>
      anthropicOf(route).messages.create({ ...chat(text), max_tokens: 10 }),
    Failure: Anthropic.APIError,
  },
};
type Name = keyof typeof clients;
const names = Object.keys(clients) as Name[];

const world = useStack(async (closing) => {
  const platform = await sharePlatform();
  const { baseUrl } = platform.stack;
  const permissions = ['token:create', 'token:use'];
  const { key: apiKey } = await platform.createApplication({ permissions });
  const { key: weakKey } = await platform.createApplication({ permissions: ['token:create'] });
  const sluice = new Sluice({ baseUrl, apiKey });
  const tokenize = async (number: string) =>
    `{{ ${(await sluice.tokens.create({ type: 'card', data: { number } })).id} | json: '$.number' }}`;
  const standIns = new Map<Name, StandIn>();
  const routes = new Map<Name, Route>();
  for (const name of names) {
    const { start, path } = clients[name];
    const standIn = await start(closing);
    standIns.set(name, standIn);
    const proxy = await platform.createProxy({ destination_url: standIn.url + path });
    routes.set(name, { baseUrl, apiKey, proxyKey: proxy.key });
  }
  await using gone = new AsyncDisposableStack();
  const closedPort = await serveHttp(gone, () => {});
  const down = await platform.createProxy({ destination_url: closedPort });
  const code = 'module.exports = async () => { throw new Error("no"); };';
  const failing = await platform.createProxy({ destination_url: closedPort, request_transform: { code } });
  const standIn = (name: Name) => standIns.get(name) as StandIn;
  const route = (name: Name) => routes.get(name) as Route;
  return { tokenize, weakKey, downKey: down.key, failingKey: failing.key, standIn, route };
});

describe('stripe', () => {
  test('charges a card that only a token stands for, and the destination gets its number', async () => {
    const { tokenize, standIn, route } = world.current;
    const stripe = stripeOf(route('stripe'));
    const method = await createMethod(stripe, await tokenize('4242424242424242'));
    expect(standIn('stripe').seen.at(-1)).toContain('card[number]=4242424242424242&');
    const payment = await stripe.paymentIntents.create({ amount: 4200, currency: 'eur', payment_method: method.id });
    expect(payment).toMatchObject({ amount: 4200, status: 'succeeded' });
  });

  test('a declined card is the card error that the destination sent', async () => {
    const { tokenize, route } = world.current;
    const stripe = stripeOf(route('stripe'));
    const { id } = await createMethod(stripe, await tokenize(declinedNumber));
    const charge = stripe.paymentIntents.create({ amount: 1, currency: 'eur', payment_method: id });
    const { type, code, decline_code, statusCode } = await charge.catch((error) => error);
    expect({ type, code, decline_code, statusCode }).toEqual({
      ...{ type: 'StripeCardError', code: 'card_declined', decline_code: 'generic_decline', statusCode: 402 },
    });
  });

  test('a list is read to its end, page by page', async () => {
    const stripe = stripeOf(world.current.route('stripe'));
    const made = [];
    for (let i = 0; i < 5; i++) made.push((await stripe.paymentIntents.create({ amount: i, currency: 'eur' })).id);
    const listed: string[] = [];
    for await (const { id } of stripe.paymentIntents.list({ limit: 2 })) listed.push(id);
    expect(listed.slice(0, 5)).toEqual(made.reverse());
  });

  test('a file comes as a stream, before its end is sent', async () => {
    const { standIn, route } = world.current;
    const parts: string[] = [];
    for await (const part of await stripeOf(route('stripe')).quotes.pdf('qt_1')) {
      parts.push(Buffer.from(part).toString());
      standIn('stripe').goOn();
    }
    expect(parts).toEqual(['%PDF-', '1.4']);
  });
});

describe('openai', () => {
  test('gets an answer to what only a token stands for, and a list', async () => {
    const { tokenize, standIn, route } = world.current;
    const client = openAiOf(route('openai'));
    const completion = await client.chat.completions.create(chat(`Is ${await tokenize('4242424242424242')} a card?`));
    expect(completion.choices[0]?.message.content).toBe('hello');
    expect(JSON.parse(standIn('openai').seen.at(-1) ?? '')).toMatchObject(chat('Is 4242424242424242 a card?'));
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['small']);
  });

  test('gets a stream while it is sent', async () => {
    const { standIn, route } = world.current;
    const parts: string[] = [];
    const stream = await openAiOf(route('openai')).chat.completions.create({ ...chat('hello'), stream: true });
    for await (const { choices } of stream) {
      parts.push(choices[0]?.delta.content ?? '');
      standIn('openai').goOn();
    }
    expect(parts).toEqual(['a ', 'b']);
  });
});

describe('@anthropic-ai/sdk', () => {
  test('gets an answer to what only a token stands for, and a list', async () => {
    const { tokenize, standIn, route } = world.current;
    const client = anthropicOf(route('@anthropic-ai/sdk'));
    const text = `Is ${await tokenize('4242424242424242')} a card?`;
    const { content } = await client.messages.create({ ...chat(text), max_tokens: 10 });
    expect(content).toEqual([{ type: 'text', text: 'hello' }]);
    expect(standIn('@anthropic-ai/sdk').seen.at(-1)).toContain('Is 4242424242424242 a card?');
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['small']);
  });

  test('gets a stream while it is sent', async () => {
    const { standIn, route } = world.current;
    const parts: string[] = [];
    const stream = anthropicOf(route('@anthropic-ai/sdk')).messages.stream({ ...chat('hello'), max_tokens: 10 });
    stream.on('text', (part) => {
      parts.push(part);
      standIn('@anthropic-ai/sdk').goOn();
    });
    expect(await stream.finalText()).toBe('a b');
    expect(parts).toEqual(['a ', 'b']);
  });
});

describe.each(names)('in %s', (name) => {
  const { call, Failure } = clients[name];
  /** How the call ended, in plain values. */
  const outcomeOf = async (route: Partial<Route>, text = 'hello') => {
    try {
      await call({ ...world.current.route(name), ...route }, text);
      return { resolved: true };
    } catch (error) {
      return { isItsOwn: error instanceof Failure, message: error instanceof Error ? error.message : '' };
    }
  };

  test('what the destination itself refuses is an exception with its text', async () => {
    const outcome = await outcomeOf({ theirKey: 'sk_test_wrong' });
    expect(outcome).toEqual({ isItsOwn: true, message: expect.stringMatching(/api.key/i) });
  });

  const unknown = '0b8f4c0e-0000-4000-8000-000000000000';
  test.each<[string, () => Partial<Route>, RegExp, string]>([
    ['an unknown token', () => ({}), new RegExp(unknown), `{{ ${unknown} }}`],
    ['a wrong key', () => ({ apiKey: 'svc_local_prv_wrong' }), /key/i, 'hello'],
    ['a wrong key of the Proxy', () => ({ proxyKey: 'wrong' }), /proxy/i, 'hello'],
    ['a destination that is down', () => ({ proxyKey: world.current.downKey }), /destination/i, 'hello'],
    ['a wrong path', () => ({ baseUrl: `${world.current.route(name).baseUrl}/wrong` }), /wrong|path/i, 'hello'],
    ['a missing permission', () => ({ apiKey: world.current.weakKey }), /token:use/, 'hello'],
    ['a transform that fails', () => ({ proxyKey: world.current.failingKey }), /transform/i, 'hello'],
  ])('%s is an exception of its own, with our text', async (_, route, message, text) => {
    const sent = world.current.standIn(name).seen.length;
    const outcome = await outcomeOf(route(), text);
    expect(outcome).toEqual({ isItsOwn: true, message: expect.stringMatching(message) });
    expect(world.current.standIn(name).seen).toHaveLength(sent);
  });
});

test.each(names)('%s, which repeats after 5xx by itself, does not repeat what no retry can mend', async (name) => {
  const { failingKey, downKey, route } = world.current;
  const { baseUrl, apiKey } = route(name);
  const countWith = async (proxyKey: string) => {
    const count = { sent: 0 };
    const counting: typeof fetch = (...args) => {
      count.sent++;
      return fetch(...args);
    };
    const outcome = list[name]({ baseUrl, apiKey, proxyKey, maxRetries: 1, fetch: counting });
    await expect(outcome).rejects.toBeInstanceOf(clients[name].Failure);
    return count.sent;
  };
  expect([await countWith(failingKey), await countWith(downKey)]).toEqual([1, 2]);
});

test('without a member `error` a refusal resolves in stripe, so the tests above would notice its loss', async () => {
  await using closing = new AsyncDisposableStack();
  const baseUrl = await serveHttp(closing, (_, response) => {
    response.writeHead(404, { 'Content-Type': 'application/json' }).end('{"proxy_error":{"title":"Not found"}}');
  });
  const route = { baseUrl, apiKey: 'k', proxyKey: 'k' };
  expect(await createMethod(stripeOf(route), '4242424242424242')).toHaveProperty('proxy_error');
});

test('the versions that are tested are those of the table in the README', async () => {
  const readme = await readFile(join(repositoryRoot, 'README.md'), 'utf8');
  for (const name of names) {
    const { version } = JSON.parse(await readFile(join(repositoryRoot, 'node_modules', name, 'package.json'), 'utf8'));
    expect(readme).toMatch(new RegExp(`^\\| \`${name}\` \\|.*\\| ${version} \\|$`, 'm'));
  }
});
