import { openTestPool } from './pool-for-tests.ts';

const limits = { cpuMs: 300, wallMs: 1_000, heapBytes: 32 * 2 ** 20, outputBytes: 100_000 };
const pool = openTestPool({ limits, threads: 2 });
afterAll(() => pool.close());
beforeAll(() => pool.ready());

const good = 'module.exports = async (req) => ({ body: await req.svc.detokenize(req.args.body) })';
const host = async (_: string, payloadJson: string) => payloadJson;

/** Programs that must be answered with an error. */
const fatal = {
  'endless loop': 'for (;;) {}',
  'endless loop that catches': 'for (;;) { try { for (;;) {} } catch {} }',
  'endless loop in finally': 'try { for (;;) {} } finally { for (;;) {} }',
  'promise chain': 'await (async function next() { await null; return next() })()',
  'promise chain of jobs': 'const again = () => Promise.resolve().then(again); return again()',
  'endless microtasks': 'const again = () => queueMicrotask(again); again(); await new Promise(() => {})',
  'endless timers': 'setInterval(() => {}, 0); await new Promise(() => {})',
  'timers that double': 'const f = () => { setTimeout(f); setTimeout(f) }; f(); await new Promise(() => {})',
  'catastrophic regex': '/^(a+)+$/.test("a".repeat(50) + "b")',
  'regex that copies': '"a".repeat(1e6).replace(/a/g, "$&".repeat(1e4))',
  'flood of arrays': 'const all = []; for (;;) all.push(new Array(1e4).fill(0))',
  'flood of text': 'let s = "x"; for (;;) s += s',
  'flood of buffers': 'const all = []; for (;;) all.push(new ArrayBuffer(2 ** 20))',
  'one large buffer': 'new ArrayBuffer(2 ** 31)',
  'flood of maps': 'const m = new Map(); for (let i = 0; ; i += 1) m.set(i, {})',
  'flood of closures': 'let f = () => 1; for (;;) { const g = f; f = () => g() }',
  'flood of bound functions': 'let f = () => 1; for (;;) f = f.bind()',
  'sparse array to text': 'return new Array(1e9) + ""',
  padding: 'return { body: "x".padEnd(2 ** 29) }',
  'deep recursion': 'const f = () => f() + 1; return f()',
  'deep JSON text': 'JSON.parse("[".repeat(1e6))',
  'deep value to JSON': 'let o = {}; for (let i = 0; i < 1e5; i += 1) o = { o }; return { body: o }',
  'deep source': 'eval("(".repeat(1e5))',
  'deep pattern': 'new RegExp("(?:".repeat(1e5))',
  'circular value': 'const o = {}; o.o = o; return { body: o }',
  '100 MB of output': 'return { body: Array(1e7).fill("0123456789") }',
  'output from toJSON': 'return { body: { toJSON() { for (;;) {} } } }',
  'getter that throws': 'return { get body() { throw null } }',
  'getter that loops': 'return { get headers() { for (;;) {} } }',
  'proxy as result': 'return new Proxy({}, { get() { for (;;) {} } })',
  'thenable that never settles': 'return { then() {} }',
  'thenable that loops': 'return { then(resolve) { resolve(this) } }',
  'throws null': 'throw null',
  'throws what cannot be text': 'throw { get name() { for (;;) {} }, message: Symbol(), get stack() { throw 1 } }',
  'throws a proxy': 'throw new Proxy({}, { has() { throw 1 }, get() { throw 1 } })',
  'throws at length': 'throw new Error("x".repeat(1e6))',
  'redefined Object.prototype.then': 'Object.prototype.then = function () {}; return { body: 1 }',
  'client flood': 'for (;;) req.svc.tokenize(1)',
  'require from within require':
    'const { defineProperty } = Object; Object.defineProperty = Object.assign = Object.freeze = () => require("util"); Object.create = () => require("uuid"); require("util"); throw 1',
  'recursion through the host': 'const f = () => { Buffer.from("x"); new URL("http://a/" + "b"); f() }; f()',
  'import of the host functions': 'return { body: Object.keys(await import("./host.js")) }',
  'import from eval': 'return { body: Object.keys(await eval("import(\'guest/host.js\')")) }',
  'import from a new Function': 'return { body: Object.keys(await new Function("return import(\'./host.js\')")()) }',
  'large randomBytes': 'require("crypto").randomBytes(2 ** 30)',
};

describe('a hostile program is answered with an error in time, and a good one beside it goes on', () => {
  test.each(Object.entries(fatal))('%s', async (_, statements) => {
    const startedAt = performance.now();
    const bad = pool
      .failure(`module.exports = async (req) => { ${statements} }`, { tenantId: 'bad', host })
      .then((error) => ({ error, elapsedMs: performance.now() - startedAt }));
    for (let i = 0; i < 3; i += 1) expect(await pool.body(good, { host })).toEqual({ name: 'Ann' });
    const { error, elapsedMs } = await bad;
    expect(error).toMatchObject({ name: 'ServiceError', code: 'transform_failed' });
    expect(elapsedMs).toBeLessThan(limits.wallMs + 300);
  });

  test('at the top of the module', async () => {
    expect((await pool.failure('for (;;) {}')).detail).toMatch(/CPU time|took longer/);
    expect((await pool.failure('const all = []; for (;;) all.push(new Array(1e4).fill(0))')).detail).toContain(
      'memory',
    );
  });

  test('the same program is stopped each time, and no thread was lost to any of them', async () => {
    for (let i = 0; i < 5; i += 1)
      expect((await pool.failure('module.exports = () => { for (;;) {} }')).detail).toMatch(/CPU time|took longer/);
    expect(pool.faults).toEqual([]);
  });
});

/** Programs that tamper with what the wrapper might use: they may harm themselves, not the answer's form. */
const tampering = {
  'JSON.stringify': 'JSON.stringify = () => "not JSON"',
  'JSON.parse': 'JSON.parse = () => { throw 1 }',
  JSON: 'JSON = undefined',
  'Promise.prototype.then': 'Promise.prototype.then = () => { throw 1 }',
  'Promise constructor': 'Promise.prototype.constructor = undefined; Promise = function () { throw 1 }',
  'Object.prototype members':
    'for (const k of ["body", "headers", "kind", "error", "get", "set", "value"]) Object.prototype[k] = "polluted"',
  'a setter on Object.prototype':
    'for (const k of ["kind", "message", "args", "1", "next"]) Object.defineProperty(Object.prototype, k, { set() { throw 1 } })',
  'Array.prototype':
    'for (const k of Object.getOwnPropertyNames(Array.prototype)) if (k !== "length") Array.prototype[k] = () => { throw 1 }',
  'Function.prototype': 'Function.prototype.call = Function.prototype.apply = () => { throw 1 }',
  'String.prototype': 'String.prototype.slice = () => { throw 1 }; String = () => { throw 1 }',
  'Error constructors': 'Error = TypeError = () => 1; Error.prototype = null',
  Reflect: 'Reflect.apply = () => { throw 1 }; Reflect = undefined',
  'Symbol.iterator': 'Array.prototype[Symbol.iterator] = () => { throw 1 }',
  globalThis: 'for (const k of Object.getOwnPropertyNames(globalThis)) try { globalThis[k] = undefined } catch {}',
};

describe('redefined built-ins do not break the wrapper', () => {
  test.each(Object.entries(tampering))('%s', async (name, statements) => {
    const code = `${statements}; module.exports = async (req) => ({ body: { own: req.args.body.name }, headers: { a: 'b' } })`;
    const { bodyJson, headersJson } = await pool.run(code, { proxyId: name });
    expect([bodyJson, headersJson]).toEqual(['{"own":"Ann"}', '{"a":"b"}']);
    const again = await pool.run(code, { proxyId: name });
    expect(again.bodyJson).toBe('{"own":"Ann"}');
  });

  test.each(Object.entries(tampering))('%s, and then an error', async (name, statements) => {
    const error = await pool.failure(
      `const Own = Error; ${statements}; module.exports = async () => { throw new Own('own text') }`,
      {
        proxyId: name,
      },
    );
    expect(error).toMatchObject({ code: 'transform_failed' });
  });

  test.each(Object.entries(tampering))('%s, and then a call of the client', async (name, statements) => {
    const code = `${statements}; module.exports = async (req) => ({ body: await req.svc.tokenize(1), headers: {} })`;
    expect(await pool.run(code, { proxyId: name, host: async () => '"answered"' })).toMatchObject({
      bodyJson: '"answered"',
    });
  });

  test('an index of Array.prototype, on which QuickJS itself relies, fails the invocation at once', async () => {
    const code =
      'Object.defineProperty(Array.prototype, 0, { set() { throw 1 } }); module.exports = () => ({ body: {} })';
    expect(await pool.failure(code)).toMatchObject({ code: 'transform_failed' });
  });

  test('toJSON on Object.prototype rewrites the results of the Tenant and not the report of an error', async () => {
    const code = 'Object.prototype.toJSON = () => "gone"; module.exports = async () => { throw new Error("own text") }';
    expect((await pool.failure(code)).detail).toContain('Error: own text');
  });
});

test.each([
  'process.binding',
  'process.exit',
  'globalThis.sluiceHost',
  'globalThis.require',
  'globalThis.fetch',
  'globalThis.WebAssembly',
  'this.constructor.constructor("return process.mainModule")()',
  'Object.keys(process.env).length || undefined',
])('%s is not there', async (expression) => {
  expect(await pool.body(`module.exports = function () { return { body: String(${expression}) } }`)).toBe('undefined');
});
