import { slow } from '@sluice/testing';
import { openTestPool } from './testing/test-pool.ts';

const limits = { cpuMs: 100, heapBytes: 32 * 2 ** 20, outputBytes: 100_000 };
const pool = openTestPool({ limits, threads: 2 });
afterAll(() => pool.close());
beforeAll(() => pool.ready());

slow('1 s')('the same program is stopped each time, also at the top of the module, and no thread is lost', async () => {
  for (let i = 0; i < 3; i += 1)
    expect((await pool.failure('module.exports = () => { for (;;) {} }')).detail).toMatch(/CPU time/);
  expect((await pool.failure('for (;;) {}')).detail).toMatch(/CPU time/);
  expect((await pool.failure('const all = []; for (;;) all.push(new Array(1e4).fill(0))')).detail).toMatch(
    /memory|CPU time/,
  );
  expect(pool.faults).toEqual([]);
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
    const { bodyJson, headersJson } = await pool.run(code, { ownerId: name });
    expect([bodyJson, headersJson]).toEqual(['{"own":"Ann"}', '{"a":"b"}']);
    const again = await pool.run(code, { ownerId: name });
    expect(again.bodyJson).toBe('{"own":"Ann"}');
  });

  test.each(Object.entries(tampering))('%s, and then an error', async (name, statements) => {
    const error = await pool.failure(
      `const Own = Error; ${statements}; module.exports = async () => { throw new Own('own text') }`,
      {
        ownerId: name,
      },
    );
    expect(error).toMatchObject({ code: 'transform_failed' });
  });

  test.each(Object.entries(tampering))('%s, and then a call of the client', async (name, statements) => {
    const code = `${statements}; module.exports = async (req) => ({ body: await req.svc.tokenize(1), headers: {} })`;
    expect(await pool.run(code, { ownerId: name, host: async () => '"answered"' })).toMatchObject({
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
  'process.mainModule',
  'globalThis.sluiceHost',
  'globalThis.require',
  'globalThis.fetch',
  'globalThis.WebAssembly',
  'this.constructor.constructor("return process.mainModule")()',
  'Object.keys(process.env).length || undefined',
])('%s is not there', async (expression) => {
  expect(await pool.body(`module.exports = function () { return { body: String(${expression}) } }`)).toBe('undefined');
});
