import { fillUp } from './body.ts';
import type { Workload } from './start-invocation.ts';

const cards = [
  { number: '4242424242424242', expiration_month: 12, expiration_year: 2040 },
  { number: '5555555555554444', expiration_month: 6, expiration_year: 2041 },
];

/** JSON with two tokens, each of them a card. */
export const detokenizingWorkload: Workload = {
  async prepare(tenant) {
    const [payer, payee] = await Promise.all(cards.map((card) => tenant.createCard(card)));
    const order = { amount: 1250, currency: 'EUR' };
    const sent = fillUp({ payer: `{{${payer}}}`, payee: `{{ ${payee} }}`, ...order });
    return { sent, received: { ...sent, payer: cards[0], payee: cards[1] } };
  },
};
