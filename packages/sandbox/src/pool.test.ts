import { defaultTransformLimits, openTransformPool } from './index.ts';
import { openTestPool } from './testing/test-pool.ts';

const pool = openTestPool();
beforeAll(() => pool.ready());
afterAll(() => pool.close());

describe('what a transform receives and returns', () => {
  test('an async function gets args and configuration, and its body and headers come back as JSON', async () => {
    const code = 'module.exports = async function (req) { return { body: req, headers: req.args.headers } }';
    const result = await pool.run(code);
    expect(JSON.parse(result.bodyJson ?? '')).toEqual({
      args: { body: { name: 'Ann' }, headers: { 'x-a': '1' } },
      configuration: { key: 'value' },
    });
    expect(result.headersJson).toBe('{"x-a":"1"}');
    expect(result.durationMs).toBeGreaterThan(0);
    expect(result.cpuMs).toBeGreaterThanOrEqual(0);
  });

  test.each([
    ['a plain function', 'module.exports = (req) => ({ body: 1 })'],
    ['exports.default', 'exports.default = async (req) => ({ body: 1 })'],
    ['a module that leaves early', 'module.exports = () => ({ body: 1 }); return; syntax.is.not.reached'],
    ['a last line that is a comment', 'module.exports = () => ({ body: 1 }) // end'],
  ])('%s is accepted', async (_, code) => {
    expect(await pool.body(code)).toBe(1);
  });

  test.each([
    ['{}', undefined, undefined],
    ['{ body: null, headers: {} }', 'null', '{}'],
    ['{ body: "" }', '""', undefined],
    ['{ body: [1, { toJSON() { return 2 } }, new Date(0)] }', '[1,2,"1970-01-01T00:00:00.000Z"]', undefined],
    ['new (class { get body() { return 7 } })()', '7', undefined],
  ])('%s gives body %s and headers %s', async (value, body, headers) => {
    expect(await pool.run(`module.exports = async () => (${value})`)).toMatchObject({
      bodyJson: body,
      headersJson: headers,
    });
  });

  test.each(['undefined', 'null', '1', '"text"', '[]', 'true', '{ body: undefined }', '{ headers: undefined }'])(
    '%s is no result',
    async (value) => {
      const error = await pool.failure(`module.exports = async () => (${value})`);
      expect(error).toMatchObject({ code: 'transform_failed', status: 500 });
      expect(error.detail).toContain('it must return { body, headers }');
    },
  );

  test.each(['() => 1', 'Symbol("x")', '1n', '{ then: 1n }'])('a body of %s is refused', async (value) => {
    expect(await pool.failure(`module.exports = async () => ({ body: ${value} })`)).toMatchObject({
      code: 'transform_failed',
    });
  });

  test('a module without a function is refused when it is invoked', async () => {
    expect((await pool.failure('module.exports = { other: 1 }')).detail).toContain('module.exports is not a function');
  });

  test('characters of every kind survive both ways', async () => {
    const text = 'é 😀 \u0000 \u2028 \ud800 "\\';
    const argsJson = JSON.stringify({ body: text });
    expect(await pool.body('module.exports = (req) => ({ body: req.args.body })', { argsJson })).toBe(text);
  });
});

describe('errors of the code', () => {
  test.each([
    ['module.exports = () => {\n\n  null.x;\n}', /^TypeError: .*\(line 3\)$/],
    ['module.exports = async () => {\n  throw new RangeError("too far") }', 'RangeError: too far (line 2)'],
    ['\nthrow new Error("at load")', 'Error: at load (line 2)'],
    ['module.exports = () => { throw "text" }', 'the transform threw text'],
    ['module.exports = () => { throw null }', 'the transform threw null'],
    ['module.exports = () => { throw undefined }', 'the transform threw undefined'],
    ['module.exports = () => { throw Symbol("s") }', 'the transform threw a symbol'],
    ["module.exports = () => { throw { message: 'declined' } }", 'the transform threw declined'],
    ["module.exports = () => { throw { name: 'Declined', message: 'no' } }", 'Declined: no'],
    ["module.exports = () => { throw { reason: 'no' } }", 'the transform threw [object Object]'],
    ['module.exports = () => { throw { get message() { throw 1 } } }', /an error without text/],
    ['module.exports = () => { throw Object.create(null) }', /an error without text/],
    [
      'module.exports = async () => {\n setTimeout(() => { throw new Error("later") }); await new Promise(() => {}) }',
      'Error: later (line 2)',
    ],
    ['const a = ;', /^SyntaxError: .*\(line 1\)$/],
    ['module.exports = async () => {\n await import("./host.js") }', /import is not supported/],
  ])('%j', async (code, detail) => {
    const error = await pool.failure(code);
    expect(error).toMatchObject({ name: 'ServiceError', code: 'transform_failed' });
    if (typeof detail === 'string') expect(error.detail).toBe(detail);
    else expect(error.detail).toMatch(detail);
  });

  test('a module that failed to load is loaded again by the next invocation', async () => {
    const code =
      'if (req_count() < 1) throw new Error("first"); function req_count() { return Math.random() + 1 } module.exports = () => ({ body: 1 })';
    expect(await pool.body(code)).toBe(1);
    const failing = 'throw new Error("always")';
    expect((await pool.failure(failing)).detail).toContain('always');
    expect((await pool.failure(failing)).detail).toContain('always');
  });
});

describe('console', () => {
  test('lines reach the host with their level', async () => {
    pool.printed.length = 0;
    await pool.run(
      'module.exports = () => { console.log("a %s", "b", { c: [1] }); console.error(new Map([[1, 2]])); return {} }',
    );
    expect(pool.printed).toEqual([
      { level: 'info', text: 'a b { c: [ 1 ] }' },
      { level: 'error', text: 'Map(1) { 1 => 2 }' },
    ]);
  });

  test('lines of a failed invocation reach it too', async () => {
    pool.printed.length = 0;
    await pool.failure('module.exports = () => { console.warn("before"); throw 1 }');
    expect(pool.printed.map((entry) => entry.text)).toEqual(['before']);
  });
});

describe('timers', () => {
  test('fire in the order of their times, without waiting for them', async () => {
    const code = `
      const order = [];
      const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      setTimeout(() => order.push('b'), 60_000);
      setImmediate(() => order.push('a'));
      clearTimeout(setTimeout(() => order.push('never'), 1));
      const every = setInterval((name) => { order.push(name); if (order.length > 4) clearInterval(every) }, 100_000, 'tick');
      process.nextTick(() => order.push('tick first'));
      queueMicrotask(() => order.push('then micro'));
      await wait(3_600_000);
      return order`;
    const startedAt = performance.now();
    expect(await pool.evaluate(code)).toEqual(['tick first', 'then micro', 'a', 'b', 'tick']);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  test('one that the module sets when it is loaded fires in the first invocation', async () => {
    const code = `
      const ready = new Promise((resolve) => setTimeout(resolve, 5, 'ready'));
      module.exports = async () => ({ body: await ready })`;
    expect(await pool.body(code, { ownerId: 'module timer' })).toBe('ready');
    expect(await pool.body(code, { ownerId: 'module timer' })).toBe('ready');
  });

  test('a timer that is left over does not fire in the next invocation', async () => {
    const code =
      'let fired = 0; module.exports = () => { setTimeout(() => { fired += 1 }, 1); return { body: fired } }';
    const first = await pool.body(code, { ownerId: 'timers' });
    const second = await pool.body(code, { ownerId: 'timers' });
    expect([first, second]).toEqual([0, 0]);
  });
});

describe('the prefix', () => {
  test('names the client and the module of errors', async () => {
    const acme = openTestPool({ headerPrefix: 'ACME' });
    const code = `
      const { BadRequestError } = require('acme-errors');
      module.exports = (req) => ({ body: [typeof BadRequestError, typeof req.acme, typeof req.svc] })`;
    expect(await acme.body(code, { host: async () => 'null' })).toEqual(['function', 'object', 'undefined']);
    expect((await acme.failure('require("svc-errors")')).detail).toContain("Cannot find module 'svc-errors'");
    await acme.close();
  });
});

test('threads that start later start with the first run, which waits for them', async () => {
  const options = { limits: defaultTransformLimits, threads: 1, queueLimit: 5, headerPrefix: 'SVC' };
  const later = openTransformPool({ ...options, startsLater: true });
  const atOnce = openTransformPool(options);
  try {
    await atOnce.ready();
    expect([atOnce.state().threads, later.state().threads]).toEqual([1, 0]);
    const code = 'module.exports = async () => ({ raw: 1 })';
    const run = {
      tenantId: 't',
      ownerId: 'r',
      kind: 'reactor',
      code,
      argsJson: '{}',
      configuration: async () => '{}',
    } as const;
    expect(await later.run(run)).toMatchObject({ bodyJson: '{"raw":1}' });
  } finally {
    await Promise.all([later.close(), atOnce.close()]);
  }
});
