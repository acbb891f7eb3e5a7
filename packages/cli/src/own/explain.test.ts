import { keys, startService, type } from '../testing/test-command-line.ts';

const answer = { allowed: true, transform: 'mask', decided_by: { rule: 0 }, reason: 'rules[0] decides\u001b[2J' };

async function explain(words: string[], isTerminal: boolean, said: object = answer) {
  await using closing = new AsyncDisposableStack();
  const { url, seen } = await startService(closing, () => ({ status: 200, body: said }));
  const env = { SLUICE_URL: url, SLUICE_API_KEY: keys.management };
  const printed = await type(['explain', ...words], { env, isTerminal });
  return { ...printed, asked: seen.map(({ method, url, body }) => [`${method} ${url}`, JSON.parse(body)]) };
}

test('asks for the operation, and is a sentence for people, with control characters escaped', async () => {
  const { code, out, asked } = await explain(['5b0c9a3e-2f64-4d0a-8a57-1d1f4c3b9e20', 'tok_1', 'use'], true);
  expect([code, out]).toEqual([0, 'Allowed, mask. rules[0] decides\\u001b[2J\n']);
  expect(asked).toEqual([
    ['POST /applications/5b0c9a3e-2f64-4d0a-8a57-1d1f4c3b9e20/explain', { token_id: 'tok_1', operation: 'token:use' }],
  ]);
});

test('programs get the answer as JSON; without an operation it is reading', async () => {
  const { out, asked } = await explain(['5b0c9a3e-2f64-4d0a-8a57-1d1f4c3b9e20', 'tok_1'], false);
  expect(JSON.parse(out)).toEqual(answer);
  expect(asked).toEqual([[expect.any(String), { token_id: 'tok_1', operation: 'token:read' }]]);
});

test('an operation that there is not is told, and nothing is asked', async () => {
  const { code, error, asked } = await explain(['a', 'b', 'reveal'], false);
  expect([code, asked]).toEqual([2, []]);
  expect(error).toContain('OPERATION must be one of create, read');
});

const application = '5b0c9a3e-2f64-4d0a-8a57-1d1f4c3b9e20';

test.each<[string, string[], object]>([
  ['of a route', ['--route', 'processor'], { path_name: 'processor', method: 'GET', path: '/' }],
  [
    'of a Proxy, with a token and its place',
    ['tok_1', '--proxy', 'p1', '-X', 'POST', '--path', '/charges', '--place', 'header:x-card'],
    { proxy_id: 'p1', method: 'POST', path: '/charges', token_id: 'tok_1', place: 'header:x-card' },
  ],
])('asks about a call %s', async (_name, words, question) => {
  const { code, asked } = await explain([application, ...words], false);
  expect([code, asked]).toEqual([0, [[`POST /applications/${application}/explain`, question]]]);
});

test.each<[string, object, string]>([
  ['allowed', { allowed: true, reason: 'rules[0] grants token:use.' }, 'Allowed. rules[0] grants token:use.\n'],
  [
    'refused',
    { allowed: false, decided_by: { proxy: 'allowed_paths' }, reason: 'The Proxy does not allow this path.' },
    'Not allowed. The Proxy does not allow this path.\n',
  ],
])('a call that is %s is a sentence for people', async (_name, said, out) => {
  expect((await explain([application, '--route', 'a'], true, said)).out).toBe(out);
});

test.each<[string[], string]>([
  [[application], 'TOKEN_ID is missing. To ask about a call'],
  [[application, '--route', 'a', '--proxy', 'b'], 'not both'],
  [[application, 'tok_1', 'use', '--route', 'a'], 'Give OPERATION or a call (--route, --proxy), not both'],
  [[application, 'tok_1', '-X', 'GET'], '--method needs --route or --proxy'],
  [[application, 'tok_1', '--place', 'body'], '--place needs --route or --proxy'],
])('a question that is none is told, and nothing is asked: %j', async (words, message) => {
  const { code, error, asked } = await explain(words, false);
  expect([code, asked, error]).toEqual([2, [], expect.stringContaining(message)]);
});

test('its help shows both questions', async () => {
  const { code, out } = await type(['explain', '--help']);
  expect([code, out]).toEqual([0, expect.stringContaining('APPLICATION_ID [TOKEN_ID] [OPERATION]')]);
  expect(out).toContain('sluice explain APPLICATION_ID --route processor -X POST --path /charges');
});
