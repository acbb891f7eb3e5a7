import { call, useStack } from '@sluice/testing';
import { ask, differing, type SeenAnswer, values } from '../testing/ask-alike.ts';
import { defaultAnswer } from '../testing/test-destination.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const limitBytes = 64 * 1024;
const gateway = useStack(async (stack) => {
  const test = await startTestGateway(stack, { BODY_LIMIT_BYTES: `${limitBytes}` });
  const tokens: string[] = [];
  for (const data of values) tokens.push(await test.tenant.token({ data }));
  const rules = [{ priority: 1, container: '/general/', transform: 'redact', permissions: ['token:use'] } as const];
  const [{ key }, hidden, proxy] = await Promise.all([
    test.tenant.application({ permissions: [], rules: [...rules] }),
    test.tenant.token({ data: 'x', containers: ['/hidden/'] }),
    test.tenant.proxy({ destination: test.destination.url }),
  ]);
  return { ...test, tokens, hidden, headers: { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxy.key } };
});

const json = { 'Content-Type': 'application/json' };
const multipart = { 'Content-Type': 'multipart/form-data; boundary=Bo-_un' };
const part = (content: string, header = '') =>
  `--Bo-_un\r\nContent-Disposition: form-data; name="a"${header}\r\n\r\n${content}\r\n`;

interface Kind {
  headers: Record<string, string>;
  body(text: string, others: readonly string[]): string;
}

const kinds: Record<string, Kind> = {
  'a JSON string of its own': { headers: json, body: (text, others) => JSON.stringify([...others, text]) },
  'a JSON string with text around it': {
    headers: json,
    body: (text, others) => JSON.stringify({ others, a: `no. ${text}.` }),
  },
  'JSON without a type': { headers: {}, body: (text, others) => JSON.stringify([others, { a: text }]) },
  'a form': {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: (text, others) => new URLSearchParams([...others, text].map((value) => ['a', value])).toString(),
  },
  XML: {
    headers: { 'Content-Type': 'application/xml' },
    body: (text, others) => [...others, text].map((value) => `<a>${value}</a>`).join(''),
  },
  'plain text': { headers: { 'Content-Type': 'text/plain' }, body: (text, others) => [...others, text].join(' ') },
  'a field of several parts': {
    headers: multipart,
    body: (text, others) => `${[...others, text].map((value) => part(value)).join('')}--Bo-_un--\r\n`,
  },
  'a JSON part': {
    headers: multipart,
    body: (text, others) => {
      const asJson = (value: string) => part(JSON.stringify([value]), '\r\nContent-Type: application/json');
      return `${[...others, text].map(asJson).join('')}--Bo-_un--\r\n`;
    },
  },
};

interface Way {
  others: readonly string[];
  isChunked: boolean;
}

const ways: Record<'held' | 'streamed', Way> = {
  held: { others: [], isChunked: false },
  streamed: { others: Array(80).fill('o'.repeat(1000)), isChunked: true },
};

const filtered = [
  '{{ TOKEN | to_number }}',
  '{{ TOKEN | slice: 0, 1 | to_boolean }}',
  "{{ TOKEN | json: '$.number' | last4 | to_number }}",
  '{{ TOKEN | card_bin }}',
  '{{ TOKEN | slice: 0, 12 }}',
  '{{ TOKEN | stringify }}{{ TOKEN | stringify }}',
  '{{ TOKEN | pad_left: 1000 | upcase }}',
  "{{ TOKEN | split: '' | join: '0123456789' }}",
  "{{ TOKEN | replace: '4', '0123456789' | split: '0' | size }}",
  '{{ TOKEN | first | to_number | reveal_last: 1 }}',
  // Asks for a digit at its position
  "{{ TOKEN | slice: 3, 1 | remove: '2' | to_number }}",
];

/** Beside a filter that fails on some values. The first that holds in this order is told. */
const wrong: [status: number, text: string][] = [
  [403, '{{ HIDDEN | to_number }}'],
  [400, '{{ TOKEN | nope }}'],
  [400, '{{ }}'],
  [400, '{{ TOKEN | pad_left: 5000 }}'],
  [400, '{{ 11111111-1111-4111-8111-111111111111 }}'],
];

async function answersTo(
  { headers, body }: Kind,
  text: string,
  way: Way,
  asked = gateway.current.tokens,
): Promise<SeenAnswer[]> {
  const { url, hidden, headers: keys } = gateway.current;
  return Promise.all(
    asked.map((token) => {
      const filled = body(text.replaceAll('TOKEN', token).replaceAll('HIDDEN', hidden), way.others);
      return ask({ url, headers: { ...keys, ...headers }, body: filled, isChunked: way.isChunked }, [token]);
    }),
  );
}

describe.each(Object.entries(kinds))('%s', (_, kind) => {
  test.each(Object.entries(ways))('%s: what filters make of values changes no answer', async (_name, way) => {
    for (const text of filtered) {
      const seen = differing(await answersTo(kind, text, way));
      expect([text, ...seen]).toEqual([text, expect.objectContaining({ status: 200, body: '{"ok":true}' })]);
      const last = gateway.current.destination.seen.at(-1);
      expect(last?.headers['transfer-encoding'] === 'chunked').toBe(way.isChunked);
    }
  });

  test.each(Object.entries(ways))('%s: nor which error is told, alone or first of several', async (_name, way) => {
    const some = gateway.current.tokens.filter((_token, at) => at % 8 === 0);
    for (const [at, [status, fault]] of wrong.entries()) {
      for (const [, later] of wrong.slice(at)) {
        const texts = [`${fault} {{ TOKEN | to_number }} ${later}`, `${later} {{ TOKEN | to_number }} ${fault}`];
        for (const text of texts) {
          const seen = differing(await answersTo(kind, text, way, some));
          expect([text, seen.length, seen[0]?.status]).toEqual([text, 1, status]);
        }
      }
    }
  });
});

describe('a JSON string', () => {
  const kind = kinds['a JSON string of its own'] as Kind;

  test('the destination, for which the values are, sees that a filter failed on some', async () => {
    const { destination, tokens } = gateway.current;
    const before = destination.seen.length;
    await answersTo(kind, "{{ TOKEN | slice: 0, 1 | remove: '5' | to_number }}", ways.held, tokens.slice(0, 3));
    const bodies = destination.seen.slice(before).map(({ body }) => body);
    expect(bodies.sort()).toEqual(['[1]', '[4]', '[null]']);
  });

  test('filled to its last byte it does not overflow by what a filter makes of a value', async () => {
    const { tenant, tokens } = gateway.current;
    for (const free of [-1, 0, 1, 2, 3, 4, 5, 6]) {
      const filler = await tenant.token({ data: 'x'.repeat(limitBytes - '["","-"]'.length - free) });
      const way = { ...ways.held, others: [`{{ ${filler} }}`] };
      const seen = differing(await answersTo(kind, '-{{ TOKEN | slice: 0, 4 | to_number }}', way, tokens.slice(0, 7)));
      expect([free, ...seen.map(({ status }) => status)]).toEqual([free, free < 0 ? 413 : 200]);
    }
  });

  test('the work of filters is used up alike for every value', async () => {
    const asked = await Promise.all(['1', 'a'].map((data) => gateway.current.tenant.token({ data })));
    // A value that is a number is padded to 1,000 characters, another is null at once: together over 8 Mi, or far below
    const text = `{{ TOKEN | to_number | pad_left: 1000 ${'| upcase '.repeat(7)}| slice: 0, 1 }}`;
    const many: Kind = { headers: json, body: (one) => JSON.stringify(Array(900).fill(one)) };
    expect(differing(await answersTo(many, text, ways.held, asked))).toHaveLength(1);
  });
});

test('rights come first: a token that may not be used is 403 beside any expression that is wrong', async () => {
  const { url, hidden, headers: keys, tokens } = gateway.current;
  const [own = ''] = tokens;
  for (const one of [
    '{{ }}',
    `{{ ${own} | nope }}`,
    `{{ ${own} | to_number }}`,
    '{{ no-such-token }}',
    '{{ unclosed',
  ]) {
    const body = JSON.stringify([one, `{{ ${hidden} | nope }}`]);
    for (const isChunked of [false, true]) {
      const { status, body: problem } = await ask({ url, headers: { ...keys, ...json }, body, isChunked }, []);
      expect([one, status, problem]).toEqual([one, 403, expect.stringContaining(hidden)]);
    }
  }
});

test('rights come first: a caller that is unknown is 401 beside any expression that is wrong', async () => {
  const { tenant, destination, url, headers } = gateway.current;
  const { key } = await tenant.proxy({ destination: destination.url, requireAuth: false });
  for (const one of ['{{ }}', '{{ unclosed']) {
    const options = { key: `${headers['SVC-API-KEY'].slice(0, -1)}!`, headers: { 'SVC-PROXY-KEY': key }, body: [one] };
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

test('the control: what an answer says of a value is seen, wherever it stands', async () => {
  const { destination } = gateway.current;
  const plant = async (answerFor: (body: string) => [status: number, headers: string[], body: string]) => {
    destination.answer = (_request, response) => {
      const [status, headers, body] = answerFor(destination.seen.at(-1)?.body ?? '');
      response.writeHead(status, headers).end(body);
    };
    return differing(await answersTo(kinds['plain text'] as Kind, '{{ TOKEN | last4 }}', ways.held)).length;
  };
  const isCard = (body: string) => body.includes('4242');
  expect(await plant(() => [200, [], 'ok'])).toBe(1);
  expect(await plant((body) => [isCard(body) ? 200 : 201, [], 'ok'])).toBeGreaterThan(1);
  expect(await plant((body) => [200, ['X-A', isCard(body) ? '1' : '0'], 'ok'])).toBeGreaterThan(1);
  expect(await plant((body) => [200, [isCard(body) ? 'X-A' : 'x-a', '1'], 'ok'])).toBeGreaterThan(1);
  expect(await plant((body) => [200, [], isCard(body) ? 'ok' : 'OK'])).toBeGreaterThan(1);
  destination.answer = defaultAnswer;
});

test('the control: without a filter, what its place cannot hold is told, and is found', async () => {
  const field = kinds['a field of several parts'] as Kind;
  const seen = differing(await answersTo(field, '{{ TOKEN }}', ways.held));
  expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([200, 400]));
});
