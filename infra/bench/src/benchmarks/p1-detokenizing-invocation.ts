import type { Benchmark } from '../benchmark.ts';
import { bodySize, fillUp } from '../invocation/body.ts';
import { measureInvocation } from '../invocation/measure-invocation.ts';

const cards = [
  { number: '4242424242424242', expiration_month: 12, expiration_year: 2040 },
  { number: '5555555555554444', expiration_month: 6, expiration_year: 2041 },
];

export const detokenizingInvocation: Benchmark = {
  id: 'P1',
  work: `authenticated POST of ${bodySize} bytes of JSON, 2 tokens detokenized, warm`,
  goal: 'at least 1.6 × bare http-proxy and 0.85 × bare undici dispatch',
  peerName: 'http-proxy 1.18.1, undici dispatch',
  run: (context) =>
    measureInvocation(context, {
      goals: { httpProxy: { atLeast: 1.6 }, undici: { atLeast: 0.85 } },
      async prepare(tenant) {
        const [payer, payee] = await Promise.all(cards.map((card) => tenant.createCard(card)));
        const order = { amount: 1250, currency: 'EUR' };
        const sent = fillUp({ payer: `{{${payer}}}`, payee: `{{ ${payee} }}`, ...order });
        return { sent, received: { ...sent, payer: cards[0], payee: cards[1] } };
      },
    }),
};
