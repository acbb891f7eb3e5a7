import { call, useStack } from '@sluice/testing';
import type { Json } from '@sluice/vault';
import { startTestGateway } from '../testing/test-gateway.ts';
import { upload } from './testing/upload.ts';

// What a caller with nothing but token:use could learn of a value from how a Proxy answers: nothing.

const limitBytes = 64 * 1024;
const gateway = useStack((stack) => startTestGateway(stack, { BODY_LIMIT_BYTES: `${limitBytes}` }));

/** Values of one length that share no digit at any position, and values of other forms and lengths. */
const digits: Json[] = ['4242424242424242', '5555555555554444', '1029384756102938'];
const others: Json[] = ['', 'abc', 42, true, null, ['4', '2'], { number: '4242424242424242' }, 'x'.repeat(40_000)];

interface Asked {
  contentType: string;
  bodyFor(token: string): string;
}

/** An answer as the caller sees it, less the ids that it sent itself and the trace id. */
type Seen = [status: number, length: number, body: string];

async function startAttack() {
  const { tenant, destination, url } = gateway.current;
  const { key } = await tenant.application({ permissions: ['token:use'] });
  const proxy = await tenant.proxy({ destination: destination.url });
  return async function ask(value: Json, { contentType, bodyFor }: Asked): Promise<Seen> {
    const token = await tenant.token({ data: value });
    const headers = { 'SVC-PROXY-KEY': proxy.key, 'SVC-TRACE-ID': 'trace', 'Content-Type': contentType };
    const { status, body } = await call(url, 'POST', '/proxy', { key, headers, body: bodyFor(token) });
    const text = JSON.stringify(body).replaceAll(token, '<token>');
    return [status, text.length, text];
  };
}

const places: Record<string, (expression: string) => Asked> = {
  'a JSON string that is the expression': (expression) => ({
    contentType: 'application/json',
    bodyFor: (token) => JSON.stringify({ a: expression.replaceAll('TOKEN', token) }),
  }),
  'a JSON string with text around it': (expression) => ({
    contentType: 'application/json',
    bodyFor: (token) => JSON.stringify({ a: `no. ${expression.replaceAll('TOKEN', token)}` }),
  }),
  'a form': (expression) => ({
    contentType: 'application/x-www-form-urlencoded',
    bodyFor: (token) => new URLSearchParams({ a: expression.replaceAll('TOKEN', token) }).toString(),
  }),
  XML: (expression) => ({
    contentType: 'application/xml',
    bodyFor: (token) => `<a>${expression.replaceAll('TOKEN', token)}</a>`,
  }),
};

test('80 requests that ask for each digit of a card number give 80 times the same answer', async () => {
  const ask = await startAttack();
  const { destination } = gateway.current;
  const before = destination.seen.length;
  const answers = new Set<string>();
  for (let position = 0; position < 16; position++) {
    for (const digit of ['1', '2', '4', '5', '9']) {
      const expression = `{{ TOKEN | slice: ${position}, 1 | remove: '${digit}' | to_number }}`;
      const place = places['a JSON string that is the expression']?.(expression);
      if (place) answers.add(JSON.stringify(await ask('4242424242424242', place)));
    }
  }
  expect([...answers]).toEqual(['[200,11,"{\\"ok\\":true}"]']);
  // The destination, for which the values are, sees that the filters failed on some digits and worked on others.
  const bodies = new Set(destination.seen.slice(before).map(({ body }) => body));
  expect([...bodies].sort()).toEqual(['{"a":2}', '{"a":4}', '{"a":null}']);
});

const failing = [
  '{{ TOKEN | to_number }}',
  '{{ TOKEN | to_boolean }}',
  '{{ TOKEN | slice: 0, 1 | to_boolean }}',
  "{{ TOKEN | json: '$.number' | last4 | to_number }}",
  '{{ TOKEN | last4 }}',
  '{{ TOKEN | pad_left: 1000 | upcase }}',
  '{{ TOKEN | first | to_number | reveal_last: 1 }}',
];

describe.each(Object.entries(places))('in %s', (_name, place) => {
  test.each(failing)('%s is answered alike for every value', async (expression) => {
    const ask = await startAttack();
    const answers = await Promise.all([...digits, ...others].map((value) => ask(value, place(expression))));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]?.[0]).toBe(200);
  });

  test.each(['{{ TOKEN | nope }}', '{{ TOKEN | to_number }} {{ }}', '{{ TOKEN | pad_left: 5000 }}'])(
    '%s is the same 400 for every value',
    async (expression) => {
      const ask = await startAttack();
      const answers = await Promise.all([...digits, ...others].map((value) => ask(value, place(expression))));
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect(answers[0]?.[0]).toBe(400);
    },
  );
});

test('a body that is filled to its last byte does not overflow by what a filter makes of a value', async () => {
  const ask = await startAttack();
  for (const free of [-1, 0, 1, 2, 3, 4, 5, 6]) {
    const filler = await gateway.current.tenant.token({ data: 'x'.repeat(limitBytes - '["","-"]'.length - free) });
    const bodyFor = (token: string) => JSON.stringify([`{{ ${filler} }}`, `-{{ ${token} | slice: 0, 4 | to_number }}`]);
    const asked = { contentType: 'application/json', bodyFor };
    const answers = await Promise.all([...digits, 'abcdefgh', '12', ''].map((value) => ask(value, asked)));
    expect([free, new Set(answers.map((answer) => JSON.stringify(answer))).size]).toEqual([free, 1]);
    expect([free, answers[0]?.[0]]).toEqual([free, free < 0 ? 413 : 200]);
  }
});

test('the work of filters is used up alike for every value', async () => {
  const ask = await startAttack();
  // A value that is a number is padded to 1,000 characters, another is null at once: together over 8 Mi, or far below.
  const expression = `{{ TOKEN | to_number | pad_left: 1000 ${'| upcase '.repeat(7)}| slice: 0, 1 }}`;
  const bodyFor = (token: string) => JSON.stringify(Array(900).fill(expression.replaceAll('TOKEN', token)));
  const asked = { contentType: 'application/json', bodyFor };
  const answers = await Promise.all(['1', 'a'].map((value) => ask(value, asked)));
  expect(answers[0]).toEqual(answers[1]);
});

test('rights come first: a token that may not be used is 403 beside any expression that is wrong, held or streamed', async () => {
  const { tenant, destination, url } = gateway.current;
  const rule = { priority: 1, container: '/general/', transform: 'redact', permissions: ['token:use'] } as const;
  const { key } = await tenant.application({ permissions: [], rules: [rule] });
  const proxy = await tenant.proxy({ destination: destination.url });
  const hidden = await tenant.token({ data: 'x', containers: ['/hidden/'] });
  const own = await tenant.token({ data: 'abc' });
  const wrong = ['{{ }}', `{{ ${own} | nope }}`, `{{ ${own} | to_number }}`, '{{ no-such-token }}', '{{ unclosed'];
  const headers = { 'SVC-PROXY-KEY': proxy.key, 'SVC-API-KEY': key, 'Content-Type': 'application/json' };
  for (const one of wrong) {
    const body = Buffer.from(JSON.stringify([one, `{{ ${hidden} | nope }}`]));
    const answers = [
      await upload(url, { ...headers, 'Content-Length': body.length }, [body]),
      await upload(url, headers, [body]),
    ];
    for (const { status, detail } of answers)
      expect([one, status, detail]).toEqual([one, 403, expect.stringContaining(hidden)]);
  }
  const anonymous = await tenant.proxy({ destination: destination.url, requireAuth: false });
  for (const one of ['{{ }}', '{{ unclosed']) {
    const options = { key: `${key.slice(0, -1)}!`, headers: { 'SVC-PROXY-KEY': anonymous.key }, body: [one] };
    expect((await call(url, 'POST', '/proxy', options)).status).toBe(401);
  }
});

test('svc.detokenize answers alike for every value', async () => {
  const { tenant, destination, url } = gateway.current;
  const application = await tenant.application({ permissions: ['token:use'] });
  const requestTransform = `module.exports = async ({ args, svc }) => {
    try { const [n] = await svc.detokenize(args.body); return { body: { kind: n === null ? 'null' : typeof n } }; }
    catch (error) { return { body: { status: error.status, message: error.message } }; } };`;
  const proxy = await tenant.proxy({
    destination: destination.url,
    requireAuth: false,
    applicationId: application.id,
    requestTransform,
  });
  const tokens = await Promise.all(['abc', '', { a: 1 }].map((data) => tenant.token({ data })));
  for (const token of tokens) {
    const body = [`{{ ${token} | to_number }}`];
    expect((await call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key }, body })).status).toBe(200);
    expect(destination.seen.at(-1)?.body).toBe('{"kind":"null"}');
  }
});
