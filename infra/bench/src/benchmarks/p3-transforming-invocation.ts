import type { Benchmark } from '../benchmark.ts';
import { bodySize, fillUp } from '../invocation/body.ts';
import { measureInvocation } from '../invocation/measure-invocation.ts';
import { measureCalls } from '../transforms/measure-calls.ts';

const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2040 };

/** Reads the body, adds to it, and sets a header: what request transforms mostly do. */
const transform = `module.exports = async function ({ args, configuration }) {
  const { body, headers } = args;
  return {
    body: { ...body, merchant: configuration.MERCHANT, last4: body.payer.number.slice(-4) },
    headers: { ...headers, authorization: 'Bearer ' + configuration.SECRET },
  };
};
`;

export const transformingInvocation: Benchmark = {
  id: 'P3',
  work: `authenticated POST of ${bodySize} bytes of JSON, 2 tokens detokenized, a request transform, warm`,
  goal: 'at least 1.0 × bare http-proxy',
  peerName: 'http-proxy 1.18.1, undici dispatch',
  async run(context) {
    const outcome = await measureInvocation(context, {
      goals: { httpProxy: { atLeast: 1 } },
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
    });
    const notes = await measureCalls(context);
    return { ...outcome, notes: [...outcome.notes, ...notes] };
  },
};
