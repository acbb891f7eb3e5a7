import { slow, useStack } from '@sluice/testing';
import { startTestManagement } from '../testing/test-management.ts';

const settings = { TRANSFORM_CPU_MS: '300', TRANSFORM_TEST_THREADS: '2', TRANSFORM_TEST_QUEUE_LIMIT: '3' };
const api = useStack((stack) => startTestManagement(stack, settings));

const path = '/reactors/test';
const echo = 'module.exports = async (req) => ({ raw: req })';
const post = (body: unknown, options: object = {}) => api.current.send('POST', path, { body, ...options });

describe('200', () => {
  test('answers what the code returned, printed and used', async () => {
    const code = `module.exports = async ({ args, configuration }) => {
      console.log('amount', args.amount);
      return { raw: { fee: args.amount * configuration.RATE }, body: 1, headers: { a: 'b' }, tokenize: [args.card] } }`;
    const args = { amount: 100, card: '4242424242424242' };
    const { status, body } = await post({ code, args, configuration: { RATE: 2 } });
    expect(status).toBe(200);
    expect(body).toEqual({
      result: { raw: { fee: 200 }, body: 1, headers: { a: 'b' }, tokenize: [args.card] },
      console: [{ level: 'info', text: 'amount 100' }],
      duration_ms: expect.any(Number),
      cpu_ms: expect.any(Number),
    });
  });

  test.each([[[1, 'two']], ['text'], [0], [{ text: '\u0000\ud800', id: '{{ 1e2f }}' }]])(
    'args are what the code gets, and nothing in them is evaluated: %j',
    async (args) => {
      expect((await post({ code: echo, args })).body.result).toEqual({ raw: { args, configuration: {} } });
    },
  );

  test('a number in args that would be rounded is 400, as in a run', async () => {
    const { status, body } = await post(`{"code":${JSON.stringify(echo)},"args":{"amounts":[1,9007199254740993]}}`);
    expect([status, Object.keys(body.errors)]).toEqual([400, ['args.amounts[1]']]);
  });

  test('there is no client, and fetch calls nothing', async () => {
    const code = `module.exports = async (req) => {
      const failed = await fetch('https://example.com/').catch((error) => [error instanceof TypeError, error.message]);
      return { raw: [typeof req.svc, ...failed] } }`;
    const { body } = await post({ code, args: {} });
    expect(body.result.raw).toEqual(['undefined', true, expect.any(String)]);
  });

  test.each([
    ['throw new TypeError("wrong")', { status: 500, detail: 'TypeError: wrong (line 2)', line: 2 }],
    ['for (;;) {}', { status: 500, stopped_by: 'cpuMs' }],
    ['await new Promise(() => {})', { stopped_by: 'stuck' }],
    ['return 5', { status: 500 }],
    ["throw new (require('svc-errors').AuthorizationError)('no')", { status: 403, detail: 'no' }],
    ["require('fs')", { status: 500, detail: expect.stringContaining("Cannot find module 'fs'") }],
  ])('what the code does wrong is in the answer: %s', async (statement, error) => {
    const { status, body } = await post({ code: `module.exports = async () => {\n ${statement} }`, args: {} });
    expect(status).toBe(200);
    expect(body.error).toMatchObject(error);
    expect(body).not.toHaveProperty('result');
  });

  test('nothing of it is stored or logged', async () => {
    const secret = 'only-in-the-trial-4242';
    const code = `module.exports = () => { console.log('${secret}'); return { tokenize: '${secret}' } }`;
    await post({ code, args: {} });
    expect(api.current.logLines.join('\n')).not.toContain(secret);
    expect((await api.current.send('GET', '/reactors')).body.data).toEqual([]);
    expect(await api.current.db.selectFrom('tokens').select('id').execute()).toEqual([]);
  });
});

test.each([
  [{ args: {} }, 'code'],
  [{ code: '', args: {} }, 'code'],
  [{ code: echo }, 'args'],
  [{ code: echo, args: JSON.parse('['.repeat(3000) + ']'.repeat(3000)) }, 'args'],
  [{ code: echo, args: {}, configuration: { a: [] } }, 'configuration.a'],
  [{ code: echo, args: {}, configuration: { a: 'x'.repeat(40_000), b: 'x'.repeat(40_000) } }, 'configuration'],
  [{ code: `// ${'x'.repeat(256 * 1024)}`, args: {} }, 'code'],
])('400: %.60j', async (body, member) => {
  const answer = await post(body);
  expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, [member]]);
});

test('401 without a key, 403 without reactor:update, which is all that it takes', async () => {
  const body = { code: echo, args: {} };
  expect((await post(body, { key: '' })).status).toBe(401);
  expect((await post(body, { key: await api.current.keyWith('reactor:read', 'reactor:create') })).status).toBe(403);
  expect((await post(body, { key: await api.current.keyWith('reactor:update') })).status).toBe(200);
});

test('413 beyond 6 MiB, and args of 5 MiB run', async () => {
  const body = (size: number) => ({
    code: 'module.exports = ({ args }) => ({ raw: args.length })',
    args: 'x'.repeat(size),
  });
  expect((await post(body(5 * 2 ** 20))).body.result).toEqual({ raw: 5 * 2 ** 20 });
  expect((await post(body(7 * 2 ** 20))).status).toBe(413);
});

test('415 for another media type', async () => {
  expect((await post('x', { headers: { 'Content-Type': 'text/plain' } })).status).toBe(415);
});

test('422 for code that does not compile, with line and column', async () => {
  const { status, body } = await post({ code: 'const a = 1;\nconst b = ;', args: {} });
  expect(status).toBe(422);
  expect(body.errors).toEqual({ code: [expect.stringMatching(/^SyntaxError: .* \(line 2, column \d+\)$/)] });
});

slow('1.7 s')('503 with Retry-After when too many wait; meanwhile another Tenant is answered', async () => {
  const loop = 'module.exports = () => { for (;;) {} }';
  const flood = Array.from({ length: 12 }, () => post({ code: loop, args: {} }));
  const other = await post({ code: echo, args: {} }, { key: api.current.stranger.management_key });
  expect(other.status).toBe(200);
  const refused = (await Promise.all(flood)).filter(({ status }) => status === 503);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.headers.get('retry-after')).toBe('1');
});
