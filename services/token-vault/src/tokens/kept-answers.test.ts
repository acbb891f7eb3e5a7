import { randomUUID } from 'node:crypto';
import { useStack } from '@sluice/testing';
import { reveal, startTestTokenVault } from '../testing/test-token-vault.ts';

const service = useStack(startTestTokenVault);
const number = '4242424242424242';
const card = { type: 'card', data: { number, cvc: '987' } };

async function sendTwice(key: string, [method, path, body]: [string, string, unknown]) {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const headers = { 'Content-Type': type, 'SVC-IDEMPOTENCY-KEY': randomUUID() };
  const first = await service.current.send(method, path, { key, headers, body });
  const second = await service.current.send(method, path, { key, headers, body });
  return { first, second };
}

test('an answer that is kept for a day is kept without a cvc, which lives an hour', async () => {
  const { createKey, send } = service.current;
  const key = await createKey({ rules: [reveal] });
  const { body: other } = await send('POST', '/tokens', { key, body: { type: 'card', data: { number } } });
  const patch = { data: { cvc: '987' } };
  const requests: [string, string, unknown][] = [
    ['POST', '/tokens', card],
    ['POST', '/tokenize', { list: [card] }],
    ['PATCH', `/tokens/${other.id}`, patch],
  ];
  for (const request of requests) {
    const { first, second } = await sendTwice(key, request);
    expect(JSON.stringify(first.body)).toContain('"cvc":"987"');
    expect(second.status).toBe(first.status);
    expect(JSON.stringify(second.body)).toBe(JSON.stringify(first.body).replace(',"cvc":"987"', ''));
  }
});

test('where a mask of the caller’s own may have put it anywhere, without data', async () => {
  const { createKey } = service.current;
  const rules = [{ ...reveal, transform: 'mask' as const }];
  const key = await createKey({ rules });
  const masked = { ...card, mask: { note: 'code {{ data.cvc }}' } };
  const { first, second } = await sendTwice(key, ['POST', '/tokens', masked]);
  expect(first.body.data).toEqual({ note: 'code 987' });
  const { data: _data, ...others } = first.body;
  expect(second.body).toEqual(others);
});

test('other answers are kept as they are', async () => {
  const key = await service.current.createKey({ rules: [reveal] });
  const { first, second } = await sendTwice(key, ['POST', '/tokens', { data: { cvc: '987', a: [null] } }]);
  expect(second.body).toEqual(first.body);
  expect(second.body.data).toEqual({ cvc: '987', a: [null] });
});

test('data and masks that look like a card are no card, also in a document', async () => {
  const { createKey } = service.current;
  const key = await createKey({ rules: [reveal] });
  const event = { type: 'card', data: { object: 'charge', cvc: '987' } };
  const lookalike = { type: 'token', data: { event, list: [event] }, mask: { event } };
  const inCard = { type: 'card', data: { number, event } };
  const requests: [string, string, unknown][] = [
    ['POST', '/tokens', lookalike],
    ['POST', '/tokens', inCard],
    ['POST', '/tokenize', { list: [lookalike, inCard] }],
  ];
  for (const request of requests) {
    const { first, second } = await sendTwice(key, request);
    expect(JSON.stringify(first.body)).toContain(JSON.stringify(event));
    expect([second.status, second.body]).toEqual([first.status, first.body]);
  }
});

test('equal values of one document become one token where they are deduplicated, also under an idempotency key', async () => {
  const { createKey } = service.current;
  const key = await createKey({ permissions: ['token:create', 'token:read'] });
  const equal = { type: 'token', data: 'twice', deduplicate_token: true };
  const { first, second } = await sendTwice(key, ['POST', '/tokenize', [equal, equal]]);
  expect([first.status, first.body.length, first.body[1]?.id]).toEqual([200, 2, first.body[0]?.id]);
  expect([second.status, second.body]).toEqual([200, first.body]);
});
