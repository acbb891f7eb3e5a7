import type { Credentials } from '../stack/credentials.ts';
import { type Answer, type Client, createClient, expectSuccess } from './client.ts';

/** A test number of the card networks; it is nobody's card. */
const cardNumber = '4242424242424242';

const requestTransform = `module.exports = async function ({ args, configuration }) {
  return {
    headers: { ...args.headers, authorization: 'Bearer ' + configuration.PROCESSOR_SECRET },
    body: { amount: args.body.amount, currency: 'EUR', card: args.body.card },
  };
};`;

const responseTransform = `module.exports = async function ({ args, svc }) {
  const { card_number, ...answer } = args.body;
  const card_token = await svc.tokenize(card_number);
  return { headers: args.headers, body: { ...answer, card_token } };
};`;

export interface Scenario {
  cardNumber: string;
  cardToken: string;
  sent: { path: string; headers: Record<string, string>; body: unknown };
  answer: Answer;
}

export interface ScenarioOptions {
  credentials: Credentials;
  headerPrefix: string;
  destinationUrl: string;
  stack: AsyncDisposableStack;
  /** Told each step. */
  log: (line: string) => void;
}

interface Created {
  id: string;
  key: string;
}

/** The main job, by the public API alone. What it creates is deleted when the stack is disposed. */
export async function runScenario(options: ScenarioOptions): Promise<Scenario> {
  const { credentials, headerPrefix, destinationUrl, stack, log } = options;
  const baseUrl = credentials.base_url;
  const manage = createClient({ baseUrl, key: credentials.management_key, headerPrefix });

  const application = await create(manage, '/applications', {
    name: 'Demo backend',
    type: 'private',
    permissions: ['token:create', 'token:use', 'token:delete'],
  });
  stack.defer(() => remove(manage, `/applications/${application.id}`));
  log(`Application  ${application.id}  private; may create, use and delete tokens`);

  const act = createClient({ baseUrl, key: application.key, headerPrefix });
  const token = await create(act, '/tokens', {
    type: 'card',
    data: { number: cardNumber, expiration_month: 12, expiration_year: 2032 },
  });
  stack.defer(() => remove(act, `/tokens/${token.id}`));
  log(`Token        ${token.id}  stands for a card number from now on`);

  const proxy = await create(manage, '/proxies', {
    name: 'Demo processor',
    destination_url: `${destinationUrl}/v1/charges`,
    application: { id: application.id },
    configuration: { PROCESSOR_SECRET: 'demo-secret' },
    request_transform: { code: requestTransform },
    response_transform: { code: responseTransform },
  });
  stack.defer(() => remove(manage, `/proxies/${proxy.id}`));
  log(`Proxy        ${proxy.id}  to ${destinationUrl}, with a request and a response transform`);

  const sent = {
    path: '/proxy',
    headers: { [`${headerPrefix}-PROXY-KEY`]: proxy.key },
    body: { amount: 4200, card: `{{ ${token.id} }}` },
  };
  const answer = await act('POST', sent.path, sent.body, sent.headers);
  expectSuccess(answer, 'The invocation');
  const { card_token } = answer.body as { card_token: string };
  stack.defer(() => remove(act, `/tokens/${card_token}`));
  return { cardNumber, cardToken: token.id, sent, answer };
}

async function create(client: Client, path: string, body: unknown): Promise<Created> {
  return expectSuccess<Created>(await client('POST', path, body), `POST ${path}`);
}

async function remove(client: Client, path: string): Promise<void> {
  expectSuccess(await client('DELETE', path), `DELETE ${path}`);
}
