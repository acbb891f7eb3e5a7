// Stores a card number as a token and sends it to the payment processor through a Proxy. This program keeps neither.
// Settings: SLUICE_URL, SLUICE_API_KEY (of a private Application), SLUICE_PROXY_KEY.
import { Sluice } from '@sluice/sdk';

const { SLUICE_URL, SLUICE_API_KEY, SLUICE_PROXY_KEY } = process.env;
const sluice = new Sluice({ baseUrl: SLUICE_URL, apiKey: SLUICE_API_KEY });

const card = await sluice.tokens.create({ type: 'card', data: { number: '4242424242424242' } });
console.log('In a log the token is', card);

const answer = await sluice.proxy(SLUICE_PROXY_KEY).send('/charges', {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ amount: 4200, card: `{{ ${card.id} | json: '$.number' }}` }),
});
console.log('The processor answered', answer.status);
await sluice.tokens.delete(card.id);
