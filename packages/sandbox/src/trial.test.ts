import { tryTransform } from './index.ts';
import { openTestPool } from './testing/test-pool.ts';

const pool = openTestPool({ limits: { cpuMs: 100 } });
beforeAll(() => pool.ready());
afterAll(() => pool.close());

const tryCode = (code: string, part: Partial<Parameters<typeof tryTransform>[1]> = {}) =>
  tryTransform(pool.engine, { tenantId: 'tenant', kind: 'request', code, args: {}, configuration: {}, ...part });
const echo = 'module.exports = async (req) => ({ body: req })';

test('answers with what the code returned, what it printed and what it used', async () => {
  const code = 'module.exports = async ({ args }) => { console.warn("seen", args.body); return { body: args.body.a } }';
  expect(await tryCode(code, { args: { body: { a: 1 } } })).toEqual({
    result: { body: 1 },
    console: [{ level: 'warn', text: 'seen { a: 1 }' }],
    durationMs: expect.any(Number),
    cpuMs: expect.any(Number),
  });
});

test('what is left out of args is as in an empty request or response; there is no client', async () => {
  const empty = { body: {}, headers: {} };
  expect((await tryCode(echo)).result?.body).toEqual({
    args: { ...empty, method: 'POST', path: '', query: '' },
    configuration: {},
  });
  expect((await tryCode(echo, { kind: 'response' })).result?.body).toEqual({ args: empty, configuration: {} });
  const args = { body: null, headers: { 'X-A': '1' }, method: 'GET', path: '/p', query: '?q', own: 1 };
  const configuration = { key: 'value' };
  expect((await tryCode(echo, { args, configuration })).result?.body).toEqual({
    args: { ...args, headers: { 'x-a': '1' } },
    configuration,
  });
});

test.each([
  [
    'throw new TypeError("wrong")',
    { status: 500, detail: 'TypeError: wrong (line 2)', line: 2, column: expect.any(Number) },
  ],
  ['for (;;) {}', { status: 500, title: 'Transform failed', detail: expect.stringMatching(/stopped/) }],
  [
    "throw new (require('svc-errors').BadRequestError)('no', { a: ['b'] })",
    { status: 400, title: 'Bad request', detail: 'no', errors: { a: ['b'] } },
  ],
  [
    "throw new (require('svc-errors').CustomHttpResponseError)({ status: 402, headers: { a: 'b' }, body: { pay: 1 } })",
    { status: 402, title: 'CustomHttpResponseError', headers: { a: 'b' }, body: { pay: 1 } },
  ],
])('%s is part of the answer', async (statement, error) => {
  const trial = await tryCode(`module.exports = async () => {\n ${statement} }`);
  expect(trial.error).toMatchObject(error);
  expect(trial).not.toHaveProperty('result');
});

test('a limit is named, and the time is told even where the thread had to be ended', async () => {
  const trial = await tryCode('module.exports = () => new Array(1e9) + ""');
  expect(trial.error?.stopped_by).toMatch(/^(cpuMs|wallMs|heapBytes)$/);
  expect(trial.durationMs).toBeGreaterThan(0);
});

test('a full queue is no answer of the code', async () => {
  const small = openTestPool({ queueLimit: 1 });
  await small.ready();
  const task = { tenantId: 'a', kind: 'request', code: echo, args: {}, configuration: {} } as const;
  const settled = await Promise.allSettled(Array.from({ length: 4 }, () => tryTransform(small.engine, task)));
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(2);
  expect(settled.at(-1)).toMatchObject({ reason: { code: 'unavailable', retryAfterSeconds: 1 } });
  await small.close();
});
