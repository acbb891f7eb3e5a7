import { call, useStack } from '@sluice/testing';
import type { Json } from '@sluice/vault';
import { values } from '../testing/ask-alike.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import { upload } from '../testing/upload.ts';

const limitBytes = 64 * 1024;
const gateway = useStack((stack) => startTestGateway(stack, { BODY_LIMIT_BYTES: `${limitBytes}` }));

const digits: Json[] = ['4242424242424242', '5555555555554444', '1029384756102938'];

interface Asked {
  contentType: string;
  bodyFor(token: string): string;
}

/** Leaves out the ids that the caller sent itself, and the trace id. */
type Seen = [status: number, length: number, body: string];

async function attackFrom() {
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

const jsonString = (expression: string): Asked => ({
  contentType: 'application/json',
  bodyFor: (token) => JSON.stringify({ a: expression.replaceAll('TOKEN', token) }),
});

test('80 requests that ask for each digit of a card number give 80 times the same answer', async () => {
  const ask = await attackFrom();
  const { destination } = gateway.current;
  const before = destination.seen.length;
  const answers = new Set<string>();
  for (let position = 0; position < 16; position++) {
    for (const digit of ['1', '2', '4', '5', '9']) {
      const expression = `{{ TOKEN | slice: ${position}, 1 | remove: '${digit}' | to_number }}`;
      answers.add(JSON.stringify(await ask('4242424242424242', jsonString(expression))));
    }
  }
  expect([...answers]).toEqual(['[200,11,"{\\"ok\\":true}"]']);
  // The destination, for which the values are, sees that the filters failed on some digits and worked on others
  const bodies = new Set(destination.seen.slice(before).map(({ body }) => body));
  expect([...bodies].sort()).toEqual(['{"a":2}', '{"a":4}', '{"a":null}']);
});

test('a body that is filled to its last byte does not overflow by what a filter makes of a value', async () => {
  const ask = await attackFrom();
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
  const ask = await attackFrom();
  // A value that is a number is padded to 1,000 characters, another is null at once: together over 8 Mi, or far below
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

test('calls of svc end alike for every value, whatever their filters make of it', async () => {
  const { tenant, destination, url } = gateway.current;
  const rules = [
    { priority: 1, container: '/', transform: 'mask', permissions: ['token:read', 'token:update'] } as const,
  ];
  const application = await tenant.application({ permissions: ['token:use'], rules: [...rules] });
  const requestTransform = `module.exports = async ({ args: { body: id }, svc }) => {
    const ends = [];
    const note = (call) => call.then(() => ends.push('ok'), ({ status, message }) => ends.push({ status, message }));
    for (const filter of ['to_number', 'to_boolean', "json: '$.number' | last4", 'slice: 0, 1 | to_number', 'nope'])
      for (const beside of ['', '{{ }}', '{{ nobody }}'])
        await note(svc.detokenize(['{{' + id + '|' + filter + '}} ' + beside]));
    for (const patch of [{ data: { number: '1' } }, { data: [] }, { mask: '{{ data | to_number }}' }])
      for (const call of ['update', 'retrieve'])
        await note(svc.tokens[call](id, patch));
    return { body: { ends } };
  };`;
  const parts = { destination: destination.url, requireAuth: false, applicationId: application.id, requestTransform };
  const headers = { 'SVC-PROXY-KEY': (await tenant.proxy(parts)).key };
  const ends = new Set<string>();
  for (const data of values) {
    const token = await tenant.token({ data, mask: '{{ data | last4 | to_number }}' });
    expect((await call(url, 'POST', '/proxy', { headers, body: JSON.stringify(token) })).status).toBe(200);
    ends.add((destination.seen.at(-1)?.body ?? '').replaceAll(token, '<token>'));
  }
  expect([...ends]).toHaveLength(1);
  const codes = JSON.parse([...ends][0] ?? '').ends.map((end: string | { status: number }) =>
    typeof end === 'string' ? end : end.status,
  );
  expect(codes.slice(0, 3)).toEqual(['ok', 400, 400]);
  // The first patch changes a part of what the mask shows, the last one the mask
  expect(codes.slice(-6)).toEqual([403, 'ok', 'ok', 'ok', 403, 'ok']);
});
