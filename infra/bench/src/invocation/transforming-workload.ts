import { fillUp } from './body.ts';
import type { Workload } from './start-invocation.ts';

const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2040 };

/** A typical request transform: it reads the body, adds to it, and sets a header. */
const transform = `module.exports = async function ({ args, configuration }) {
  const { body, headers } = args;
  return {
    body: { ...body, merchant: configuration.MERCHANT, last4: body.payer.number.slice(-4) },
    headers: { ...headers, authorization: 'Bearer ' + configuration.SECRET },
  };
};
`;

/** JSON with two tokens, each of them a card, and a request transform. */
export const transformingWorkload: Workload = {
  threadsOnBothCores: true,
  proxy: {
    request_transform: { code: transform },
    configuration: { MERCHANT: 'acct_20931', SECRET: 'sk_benchmark' },
  },
  async prepare(tenant) {
    const [payer, payee] = await Promise.all([card, card].map((data) => tenant.createCard(data)));
    const sent = fillUp({ payer: `{{${payer}}}`, payee: `{{ ${payee} }}`, amount: 1250, currency: 'EUR' });
    return { sent, received: { ...sent, payer: card, payee: card, merchant: 'acct_20931', last4: '4242' } };
  },
};
