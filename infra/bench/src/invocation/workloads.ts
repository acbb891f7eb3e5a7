import { tenValues } from '../guard/ten-values.ts';
import type { Tenant } from '../stack/tenant.ts';

/** What is sent through the gateway, and what the destination should receive. */
export interface Workload {
  /** Members of the Proxy besides its destination. */
  proxy?: object;
  /** Whether the gateway's other threads may use both cores. */
  threadsOnBothCores?: boolean;
  prepare(tenant: Tenant): Promise<Prepared>;
}

interface Prepared {
  sent: object;
  received: object;
  /** What a response guard leaves of that, where the Proxy has one and the destination returns what it received. */
  returned?: object;
  /** Members of the Proxy that name what was prepared. */
  proxy?: object;
  /** Behind `/proxy`. */
  path?: string;
  /** What the head of the destination's request should have. */
  head?: { url?: string; authorization?: string };
}

/** Bytes of every request body. */
export const bodySize = 210;

/** Adds a member that makes the JSON `bodySize` bytes long. @throws where it is too long already. */
function fillUp<T extends object>(body: T): T & { reference: string } {
  const missing = bodySize - JSON.stringify({ ...body, reference: '' }).length;
  if (missing < 0) throw new Error(`The body has ${-missing} bytes too many`);
  return { ...body, reference: 'x'.repeat(missing) };
}

const visa = { number: '4242424242424242', expiration_month: 12, expiration_year: 2040 };
const mastercard = { number: '5555555555554444', expiration_month: 6, expiration_year: 2041 };

async function sendCards(tenant: Tenant, [payer, payee]: [object, object]) {
  const [first, second] = await Promise.all([tenant.createCard(payer), tenant.createCard(payee)]);
  const sent = fillUp({ payer: `{{${first}}}`, payee: `{{ ${second} }}`, amount: 1250, currency: 'EUR' });
  return { sent, received: { ...sent, payer, payee } };
}

/** JSON with two tokens, each of them a card. */
export const detokenizing: Workload = { prepare: (tenant) => sendCards(tenant, [visa, mastercard]) };

/** JSON with ten tokens, through a Proxy with a response guard. Its body has more than `bodySize` bytes. */
export const guarding: Workload = {
  proxy: { response_guard: 'redact' },
  async prepare(tenant) {
    const tokens = await tenant.tokenize(tenValues);
    const withValues = (values: readonly string[]) => ({ values, amount: 1250, currency: 'EUR' });
    return {
      sent: withValues(tokens.map((token) => `{{ ${token} }}`)),
      received: withValues(tenValues),
      returned: withValues(tenValues.map(() => '[redacted]')),
    };
  },
};

const order = fillUp({ order: 'e5b1b6d4-6a44-4a6e-9c3c-0d9f6f9d7a10', amount: 1250, currency: 'EUR' });

/** JSON without expressions. */
export const plain: Workload = { prepare: async () => ({ sent: order, received: order }) };

/** JSON without expressions, and a header that the Proxy sets, with a token that its Application reveals. */
export const withHeader: Workload = {
  async prepare(tenant) {
    const [token] = await tenant.createTokens(1);
    const request_headers = { Authorization: `Bearer {{ ${token} }}` };
    const proxy = { application: { id: tenant.applicationId }, request_headers };
    return { sent: order, received: order, proxy, head: { authorization: 'Bearer value 0' } };
  },
};

/** JSON without expressions, and a token in the path. */
export const withPath: Workload = {
  async prepare(tenant) {
    const [token] = await tenant.createTokens(1);
    const path = `/orders/%7B%7B${token}%7D%7D`;
    return {
      sent: order,
      received: order,
      proxy: { token_places: ['path'] },
      path,
      head: { url: '/orders/value%200' },
    };
  },
};

/** Two cards, and a typical request transform: it reads the body, adds to it, and sets a header. */
export const transforming: Workload = {
  threadsOnBothCores: true,
  proxy: {
    request_transform: {
      code: `module.exports = async function ({ args, configuration }) {
  const { body, headers } = args;
  return {
    body: { ...body, merchant: configuration.MERCHANT, last4: body.payer.number.slice(-4) },
    headers: { ...headers, authorization: 'Bearer ' + configuration.SECRET },
  };
};
`,
    },
    configuration: { MERCHANT: 'acct_20931', SECRET: 'sk_benchmark' },
  },
  async prepare(tenant) {
    const { sent, received } = await sendCards(tenant, [visa, visa]);
    return { sent, received: { ...received, merchant: 'acct_20931', last4: '4242' } };
  },
};
