import { slow, useStack } from '@sluice/testing';
import { startTestManagement } from '../testing/test-management.ts';

const settings = {
  TRANSFORM_CPU_MS: '300',
  TRANSFORM_TEST_THREADS: '2',
  TRANSFORM_TEST_QUEUE_LIMIT: '3',
};
const api = useStack((stack) => startTestManagement(stack, settings));

const path = '/proxies/test-transform';
const echo = 'module.exports = async (req) => ({ body: req })';
const loop = 'module.exports = () => { for (;;) {} }';
const post = (body: unknown, options: object = {}) => api.current.send('POST', path, { body, ...options });

function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels));
}

describe('200', () => {
  test('args may be nested some hundred levels deep', async () => {
    expect((await post({ code: 'module.exports = async () => ({})', args: { body: nested(400) } })).status).toBe(200);
  });

  test('answers what the code returned, printed and used', async () => {
    const code = `module.exports = async ({ args, configuration }) => {
      console.log('amount', args.body.amount);
      return { body: { ...args.body, key: configuration.key }, headers: { 'x-a': '1' } } }`;
    const { status, body } = await post({ code, args: { body: { amount: 5 } }, configuration: { key: 'k' } });
    expect(status).toBe(200);
    expect(body).toEqual({
      result: { body: { amount: 5, key: 'k' }, headers: { 'x-a': '1' } },
      console: [{ level: 'info', text: 'amount 5' }],
      duration_ms: expect.any(Number),
      cpu_ms: expect.any(Number),
    });
  });

  test('args are what the code gets, of any text; what they lack is empty', async () => {
    const args = { body: { text: '\u0000\ud800', __proto__x: null }, headers: { 'X-Upper': '1' }, own: [] };
    const { body } = await post({ code: echo, args });
    expect(body.result.body).toEqual({
      args: { ...args, headers: { 'x-upper': '1' }, method: 'POST', path: '', query: '' },
      configuration: {},
      svc: { tokens: {} },
    });
    const response = await post({ code: echo, args: {}, kind: 'response' });
    expect(response.body.result.body).toMatchObject({ args: { body: {}, headers: {} }, configuration: {} });
  });

  test('a stand-in answers the client, says so, and stores nothing', async () => {
    const code = `module.exports = async ({ args, svc }) => {
      const { id } = await svc.tokens.create({ type: 'card', data: args.body.card });
      const unknown = await svc.tokens.retrieve('other').catch(({ status, message }) => [status, message]);
      return { body: { number: await svc.detokenize('{{ ' + id + " | json: '$.number' | last4 }}"), unknown } }; }`;
    const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2040 };
    const { body } = await post({ code, args: { body: { card } } });
    expect(body.result.body).toEqual({
      number: '4242',
      unknown: [404, expect.stringContaining('a test run has only the tokens')],
    });
    expect(body.client).toEqual({ answered_by: 'stand-in', calls: 3 });
  });

  test('the stand-in checks use, replaces it as a whole and removes it, as the vault does', async () => {
    const code = `module.exports = async ({ svc }) => {
      const { id, use } = await svc.tokens.create({ data: 'v', use: { max_uses: 3, methods: ['post'] } });
      const patched = [{ use: { max_uses: 1 } }, { metadata: { a: 'b' } }, { use: null }];
      const uses = [use];
      for (const patch of patched) uses.push((await svc.tokens.update(id, patch)).use ?? null);
      const refused = await svc.tokens.create({ data: 'v', use: { max_uses: 0 } }).catch(({ status }) => status);
      return { body: { uses, refused } }; }`;
    const { body } = await post({ code, args: {} });
    const uses = [{ max_uses: 3, methods: ['POST'] }, { max_uses: 1 }, { max_uses: 1 }, null];
    expect(body.result.body).toEqual({ uses, refused: 400 });
  });

  test.each([
    ['throw new TypeError("wrong")', { status: 500, detail: 'TypeError: wrong (line 2)', line: 2 }],
    ['for (;;) {}', { status: 500, title: 'Transform failed', stopped_by: 'cpuMs' }],
    ['const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))', { stopped_by: expect.any(String) }],
    ['await new Promise(() => {})', { stopped_by: 'stuck' }],
    ["throw new (require('svc-errors').AuthorizationError)('no')", { status: 403, detail: 'no' }],
    [
      "throw new (require('svc-errors').CustomHttpResponseError)({ status: 418, body: { tea: 1 } })",
      { status: 418, body: { tea: 1 } },
    ],
    ["require('fs')", { status: 500, detail: expect.stringContaining("Cannot find module 'fs'") }],
  ])('what the code does wrong is in the answer: %s', async (statement, error) => {
    const { status, body } = await post({ code: `module.exports = async () => {\n ${statement} }`, args: {} });
    expect(status).toBe(200);
    expect(body.error).toMatchObject(error);
    expect(body).not.toHaveProperty('result');
  });

  test.each(['request', 'response'])(
    'a %s transform that returns the body itself is named its members',
    async (kind) => {
      const code = 'module.exports = async ({ args }) => args.body;';
      const { status, body } = await post({ code, kind, args: { body: { number: '4242424242424242', cvc: '737' } } });
      expect([status, body.result, body.error.status]).toEqual([200, undefined, 500]);
      expect(body.error.detail).toContain('returned an object with "number", "cvc"; it must return { body, headers }');
      expect(JSON.stringify(body)).not.toMatch(/4242|"737/);
    },
  );

  test('nothing of one trial is left in the next', async () => {
    const code = 'globalThis.n = (globalThis.n ?? 0) + 1; module.exports = () => ({ body: globalThis.n })';
    for (let i = 0; i < 3; i += 1) expect((await post({ code, args: {} })).body.result.body).toBe(1);
  });

  test('nothing of it is stored or logged', async () => {
    const secret = 'only-in-the-trial-4242';
    await post({ code: `module.exports = () => { console.log('${secret}'); throw new Error('${secret}') }`, args: {} });
    expect(api.current.logLines.join('\n')).not.toContain(secret);
    expect((await api.current.send('GET', '/proxies')).body.data).toEqual([]);
  });
});

test.each([
  [{ args: {} }, 'code'],
  [{ code: '', args: {} }, 'code'],
  [{ code: echo }, 'args'],
  [{ code: echo, args: [] }, 'args'],
  [{ code: echo, args: 'text' }, 'args'],
  [{ code: echo, args: { body: nested(3000) } }, 'args'],
  [{ code: echo, args: {}, kind: 'other' }, 'kind'],
  [{ code: echo, args: {}, configuration: { a: 1 } }, 'configuration.a'],
  [{ code: echo, args: {}, configuration: { a: 'x'.repeat(40_000), b: 'x'.repeat(40_000) } }, 'configuration'],
  [{ code: `// ${'x'.repeat(256 * 1024)}`, args: {} }, 'code'],
])('400: %.60j', async (body, member) => {
  const answer = await post(body);
  expect(answer.status).toBe(400);
  expect(Object.keys(answer.body.errors)).toEqual([member]);
});

test('401 without a key, 403 without proxy:update, which is all that it takes', async () => {
  const body = { code: echo, args: {} };
  expect((await post(body, { key: '' })).status).toBe(401);
  expect((await post(body, { key: await api.current.keyWith('proxy:read', 'proxy:create') })).status).toBe(403);
  expect((await post(body, { key: await api.current.keyWith('proxy:update') })).status).toBe(200);
});

test('413 beyond 6 MiB, and a body of 5 MiB runs', async () => {
  const body = (size: number) => ({
    code: 'module.exports = ({ args }) => ({ body: args.body.length })',
    args: { body: 'x'.repeat(size) },
  });
  expect((await post(body(5 * 2 ** 20))).body.result).toEqual({ body: 5 * 2 ** 20 });
  expect((await post(body(7 * 2 ** 20))).status).toBe(413);
});

test('415 for another media type', async () => {
  const headers = { 'Content-Type': 'text/plain' };
  expect((await post('x', { headers })).status).toBe(415);
});

test('422 for code that does not compile, with line and column', async () => {
  const { status, body } = await post({ code: 'const a = 1;\nconst b = ;', args: {} });
  expect(status).toBe(422);
  expect(body.errors).toEqual({ code: [expect.stringMatching(/^SyntaxError: .* \(line 2, column \d+\)$/)] });
});

slow('2.6 s')('503 with Retry-After when too many wait; meanwhile another Tenant is answered', async () => {
  const flood = Array.from({ length: 12 }, () => post({ code: loop, args: {} }));
  const other = await post({ code: echo, args: {} }, { key: api.current.stranger.management_key });
  expect(other.status).toBe(200);
  const answers = await Promise.all(flood);
  const refused = answers.filter(({ status }) => status === 503);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.headers.get('retry-after')).toBe('1');
  const stops = answers.filter(({ status }) => status === 200).map(({ body }) => body.error.stopped_by);
  expect(new Set(stops)).toEqual(new Set(['cpuMs']));
  expect((await post({ code: echo, args: {} })).status).toBe(200);
});

slow('1.3 s')('endless loops that are tried delay no change of a Proxy', async () => {
  const trials = [1, 2, 3].map(() => post({ code: loop, args: {} }));
  const created = await api.current.proxy({ request_transform: { code: echo } });
  expect(created.request_transform).toEqual({ code: echo });
  await Promise.all(trials);
});
