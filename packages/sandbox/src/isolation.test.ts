import { openTestPool } from './testing/test-pool.ts';

// The processor time decides when a run ends, however busy the machine is.
const pool = openTestPool({ limits: { cpuMs: 400 } });
beforeAll(() => pool.ready());
afterAll(() => pool.close());

const counting =
  'let calls = 0; module.exports = () => { calls += 1; globalThis.seen = (globalThis.seen ?? 0) + 1; return { body: [calls, seen] } }';

test('a warm transform keeps its own module state', async () => {
  expect(await pool.body(counting, { ownerId: 'warm' })).toEqual([1, 1]);
  expect(await pool.body(counting, { ownerId: 'warm' })).toEqual([2, 2]);
});

test.each([
  ['Tenant', { tenantId: 'other' }],
  ['proxy', { ownerId: 'other' }],
  ['kind', { kind: 'response' as const }],
])('another %s with the same code sees nothing of it', async (_, other) => {
  const base = { tenantId: 'base', ownerId: 'base' };
  await pool.body(counting, base);
  expect(await pool.body(counting, { ...base, ...other })).toEqual([1, 1]);
});

test('keys that only look alike when they are joined are different', async () => {
  expect(await pool.body(counting, { tenantId: 'a', ownerId: 'b","c' })).toEqual([1, 1]);
  expect(await pool.body(counting, { tenantId: 'a","b', ownerId: 'c' })).toEqual([1, 1]);
});

test('new code of the same proxy starts afresh', async () => {
  await pool.body(counting, { ownerId: 'changing' });
  expect(await pool.body(`${counting};`, { ownerId: 'changing' })).toEqual([1, 1]);
  expect(await pool.body(counting, { ownerId: 'changing' })).toEqual([1, 1]);
});

test('another configuration of the same proxy starts afresh, because code may have kept parts of it', async () => {
  const code = 'let kept; module.exports = ({ configuration }) => ({ body: (kept ??= configuration.KEY) })';
  const bodyWith = (KEY: string) =>
    pool.body(code, { ownerId: 'configured', configuration: async () => JSON.stringify({ KEY }) });
  expect([await bodyWith('a'), await bodyWith('a'), await bodyWith('b')]).toEqual(['a', 'a', 'b']);
});

test('changed built-ins of one Tenant do not reach another', async () => {
  await pool.run('Object.prototype.stolen = 1; JSON.stringify = () => "1"; module.exports = () => ({})', {
    tenantId: 'x',
  });
  expect(
    await pool.body('module.exports = () => ({ body: [{}.stolen, JSON.stringify({})] })', { tenantId: 'y' }),
  ).toEqual([null, '{}']);
});

test('after a limit the next invocation starts afresh', async () => {
  const code = 'let calls = 0; module.exports = (req) => { calls += 1; while (req.args.loop); return { body: calls } }';
  const run = (loop: boolean) => pool.body(code, { ownerId: 'limit', argsJson: JSON.stringify({ loop }) });
  expect(await run(false)).toBe(1);
  await expect(run(true)).rejects.toMatchObject({ code: 'transform_failed' });
  expect(await run(false)).toBe(1);
});

test('after an error of its own it stays warm', async () => {
  const code =
    'let calls = 0; module.exports = (req) => { calls += 1; if (req.args.fail) throw new Error("x"); return { body: calls } }';
  const run = (fail: boolean) => pool.body(code, { ownerId: 'own error', argsJson: JSON.stringify({ fail }) });
  await expect(run(true)).rejects.toMatchObject({ code: 'transform_failed' });
  expect(await run(false)).toBe(2);
});

test('promises that are left over do not run in the next invocation', async () => {
  const code = `let steps = 0;
    module.exports = () => { (async () => { for (;;) { steps += 1; await null } })(); return { body: steps } }`;
  expect(await pool.body(code, { ownerId: 'left over' })).toBe(1);
  expect(await pool.body(code, { ownerId: 'left over' })).toBe(1);
});

test('more transforms than are kept warm all run, each on its own', async () => {
  const proxies = Array.from({ length: 80 }, (_, index) => `many ${index}`);
  for (const ownerId of proxies) expect(await pool.body(counting, { ownerId })).toEqual([1, 1]);
  expect(await pool.body(counting, { ownerId: 'many 79' })).toEqual([2, 2]);
  expect(await pool.body(counting, { ownerId: 'many 0' })).toEqual([1, 1]);
});

test('the memory of a transform that once needed much is given back', async () => {
  await using closing = new AsyncDisposableStack();
  const patient = openTestPool({ limits: { cpuMs: 10_000 } });
  closing.defer(() => patient.close());
  const code =
    'let calls = 0; module.exports = (req) => { calls += 1; new Uint8Array(req.args.bytes).fill(1); return { body: calls } }';
  const run = (bytes: number) => patient.body(code, { ownerId: 'much', argsJson: JSON.stringify({ bytes }) });
  expect(await run(1_000)).toBe(1);
  expect(await run(80 * 2 ** 20)).toBe(2);
  expect(await run(1_000)).toBe(1);
});

test('memory that grows in the middle of promise jobs harms nothing', async () => {
  const code = `module.exports = async () => {
    const kept = [];
    for (let i = 0; i < 24; i += 1) { await null; kept.push(new Uint8Array(2 ** 20).fill(i)) }
    return { body: kept.map((part) => part[5]) } }`;
  expect(await pool.body(code, { ownerId: 'growing' })).toEqual(Array.from({ length: 24 }, (_, index) => index));
  expect(await pool.body(code, { ownerId: 'growing' })).toEqual(Array.from({ length: 24 }, (_, index) => index));
});

test('the memory of instances that were thrown away does not gather', async () => {
  const startBytes = process.memoryUsage().rss;
  let peakBytes = 0;
  for (let i = 0; i < 10; i += 1) {
    await pool.failure('const all = []; for (;;) all.push(new Uint8Array(2 ** 20).fill(1))', { ownerId: `flood ${i}` });
    peakBytes = Math.max(peakBytes, process.memoryUsage().rss - startBytes);
  }
  expect(peakBytes).toBeLessThan(600 * 2 ** 20);
});

test.each(['text', '', undefined, { length: 1, toString: () => 'text' }])(
  'a transform that redefines how texts are joined, to %j, has the answer that it gave',
  async (joined) => {
    const code = `const joined = ${joined === undefined ? 'undefined' : `(${JSON.stringify(joined)})`};
    String.prototype.concat = () => joined;
    Array.prototype.join = () => joined;
    module.exports = () => ({ body: { a: 1 }, headers: { b: '2' } });`;
    const result = await pool.run(code, { ownerId: 'joining' });
    expect(result).toMatchObject({ bodyJson: '{"a":1}', headersJson: '{"b":"2"}' });
  },
);

describe('code that runs after the answer changes nothing about it', () => {
  /** From this many jobs on the answer is there, soon after which the host looks for it. */
  const afterAnswer = Array.from({ length: 40 }, (_, i) => i + 5);
  const later = (jobs: number, act: string) => `module.exports = async (req) => {
    const hop = (left) => queueMicrotask(() => { if (left > 0) hop(left - 1); else { ${act} } });
    hop(${jobs});
    return { body: 'done' };
  }`;

  test.each([
    ['throws', 'throw new Error("late")'],
    ['answers otherwise', 'throw new (require("svc-errors").CustomHttpResponseError)({ status: 418 })'],
  ])('when it %s', async (_, act) => {
    for (const jobs of afterAnswer) expect(await pool.body(later(jobs, act), { ownerId: act })).toBe('done');
  });

  test('when it uses all the time that there is', async () => {
    for (const jobs of [5, 10, 20, 60]) {
      expect(await pool.body(later(jobs, 'for (;;) {}'), { ownerId: 'endless' })).toBe('done');
    }
  });

  test('when it calls the client: nothing is done', async () => {
    let calls = 0;
    const host = async () => {
      calls += 1;
      return '{}';
    };
    for (const jobs of afterAnswer) {
      const code = later(jobs, 'req.svc.tokens.delete("t")');
      expect(await pool.body(code, { host, ownerId: 'late calls' })).toBe('done');
    }
    expect(calls).toBe(0);
  });
});

test.each([
  ['its headers', 'Object.assign({ status: 200 }, { headers: { toJSON() {} } })', 'headers must be an object'],
  ['its status', '(Number.isInteger = () => true, { status: 250.5 })', 'thread crashed'],
])('a response of a transform that lies about %s costs no other run its answer', async (lie, given, reason) => {
  const code = `const { CustomHttpResponseError: Answer } = require('svc-errors');
    module.exports = ({ args }) => { if (args.lies) throw new Answer(${given}); return { body: 'good' } }`;
  const of = (lies: boolean) => ({ ownerId: lie, version: pool, argsJson: JSON.stringify({ lies }) });
  await pool.run(code, of(false));
  const runs = [false, true, false].map((lies) => pool.run(code, of(lies)));
  const outcomes = await Promise.allSettled(runs);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(outcomes[1]).toMatchObject({ reason: { code: 'transform_failed', detail: expect.stringContaining(reason) } });
});

test('code that redefines what a module of ours is loaded with gets no function of the host by it', async () => {
  const code = `
    const inject = "lib/stream.js';import { host } from './host.js';globalThis.leaked = host;//";
    const { join, split, pop, push } = Array.prototype; Array.prototype.join = () => inject;
    try { require('stream') } catch {} Array.prototype.join = join;
    String.prototype.replace = () => ({ split: () => [inject] }); try { require('stream/promises') } catch {}
    module.exports = () => ({ body: typeof leaked })`;
  expect(await pool.body(code, { ownerId: 'injects' })).toBe('undefined');
});
