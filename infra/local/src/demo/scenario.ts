import { Sluice } from '@sluice/sdk';
import { LaunchError } from '../launch-error.ts';
import type { Credentials } from '../stack/credentials.ts';

/** A test number of the card networks, which belongs to nobody. */
const cardNumber = '4242424242424242';

/** Adds the processor's secret, so that the caller need not hold it. */
export const requestTransform = `module.exports = async function ({ args, configuration }) {
  return {
    headers: { ...args.headers, authorization: 'Bearer ' + configuration.PROCESSOR_SECRET },
    body: { amount: args.body.amount, currency: 'EUR', card: args.body.card },
  };
};`;

/** The processor answers with the card number, and the caller gets a token of it. */
export const responseTransform = `module.exports = async function ({ args, svc }) {
  const { card_number, ...answer } = args.body;
  const card_token = await svc.tokenize(card_number);
  return { headers: args.headers, body: { ...answer, card_token } };
};`;

export interface Scenario {
  cardNumber: string;
  cardToken: string;
  sent: { path: string; headers: Record<string, string>; body: unknown };
  answer: { status: number; headers: Headers; body: unknown };
}

export interface ScenarioOptions {
  credentials: Credentials;
  headerPrefix: string;
  destinationUrl: string;
  stack: AsyncDisposableStack;
  /** Called for each step. */
  log: (line: string) => void;
}

/** The main job through the public API. Everything it creates is deleted when the stack is disposed. */
export async function runScenario(options: ScenarioOptions): Promise<Scenario> {
  const { credentials, headerPrefix, destinationUrl, stack, log } = options;
  const baseUrl = credentials.base_url;
  const management = new Sluice({ baseUrl, apiKey: credentials.management_key, headerPrefix });

  const application = await management.applications.create({
    name: 'Demo backend',
    type: 'private',
    permissions: ['token:create', 'token:use', 'token:delete'],
  });
  stack.defer(() => management.applications.delete(application.id));
  log(`Application  ${application.id}  private; may create, use and delete tokens`);

  const backend = new Sluice({ baseUrl, apiKey: application.key, headerPrefix });
  const token = await backend.tokens.create({
    type: 'card',
    data: { number: cardNumber, expiration_month: 12, expiration_year: 2032 },
  });
  stack.defer(() => backend.tokens.delete(token.id));
  log(`Token        ${token.id}  stands for a card number from now on`);

  const proxy = await management.proxies.create({
    name: 'Demo processor',
    destination_url: `${destinationUrl}/v1/charges`,
    application: { id: application.id },
    configuration: { PROCESSOR_SECRET: 'demo-secret' },
    request_transform: { code: requestTransform },
    response_transform: { code: responseTransform },
  });
  stack.defer(() => management.proxies.delete(proxy.id));
  log(`Proxy        ${proxy.id}  to ${destinationUrl}, with a request and a response transform`);

  const sent = {
    path: '/proxy',
    headers: { [`${headerPrefix}-PROXY-KEY`]: proxy.key },
    body: { amount: 4200, card: `{{ ${token.id} }}` },
  };
  const response = await backend.proxy(proxy.key).fetch('', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(sent.body),
  });
  const { status, headers } = response;
  const body = (await response.json()) as { card_token: string };
  if (!response.ok) throw new LaunchError(`The invocation failed with status ${status}: ${JSON.stringify(body)}`);
  stack.defer(() => backend.tokens.delete(body.card_token));
  return { cardNumber, cardToken: token.id, sent, answer: { status, headers, body } };
}
