import { openTestPool } from './testing/test-pool.ts';

const pool = openTestPool();
beforeAll(() => pool.ready());
afterAll(() => pool.close());

const argsJson =
  '{"body":{"number":"4242424242424242","cvc":"737"},"headers":{},"method":"POST","path":"/a","query":""}';
const returning = (what: string) => `module.exports = async ({ args }) => { ${what} }`;
const expected = /; it must return \{ body, headers \}, each of them optional/;

test.each([
  ['the body itself', 'return args.body', 'returned an object with "number", "cvc"'],
  ['a member beside body', 'return { body: {}, status: 200 }', 'returned an object with "status"'],
  ['nothing', '', 'returned nothing'],
  ['null', 'return null', 'returned null'],
  ['an array', 'return [1]', 'returned an array'],
  ['a text', 'return "4242424242424242"', 'returned a string'],
  ['another path', 'return { ...args, path: "/b" }', 'with "path"'],
  ['a path changed in place', 'args.path = "/b"; return args', 'with "path"'],
  ['a method that is no longer there', 'return { body: 1, method: undefined }', 'with "method"'],
  ['a map', 'return new Map([["body", 1]])', 'returned an object of a class'],
  ['bytes', 'return Buffer.from("abc")', 'returned an object of a class'],
  ['an error', 'return new Error("x")', 'returned an object of a class'],
  ['an object of a class that is the body', 'return new (class { number = 1 })()', 'returned an object of a class'],
  ['a hidden member', 'return Object.defineProperty({}, "number", { value: 1 })', 'with "number"'],
  ['a body that is undefined', 'return { body: args.boddy }', 'returned a body that is undefined'],
  ['headers that are undefined', 'return { body: 1, headers: args.header }', 'returned headers that are undefined'],
])('%s is no result, and the error says what was returned and what is expected', async (_name, what, detail) => {
  const error = await pool.failure(returning(what), { argsJson });
  expect(error).toMatchObject({ code: 'transform_failed', status: 500 });
  expect(error.detail).toContain(detail);
  expect(error.detail).toMatch(expected);
  expect(error.detail).not.toMatch(/4242|737/);
});

test('at most ten members are named, and each in part', async () => {
  const code = returning(
    'return Object.fromEntries(Array.from({ length: 30 }, (_, at) => ["m".repeat(100) + at, at]))',
  );
  const { detail } = await pool.failure(code, { argsJson });
  expect(detail.match(/"m{60}"/g)).toHaveLength(10);
  expect(detail).toContain(' and other members;');
});

test('what the code has redefined does not hide that it returned the body', async () => {
  const code = `Array.prototype.join = () => 'body'; String.prototype.concat = () => ''; Object.prototype.toJSON = () => 'x';
    Object.getOwnPropertyNames = () => []; ${returning('return args.body')}`;
  expect((await pool.failure(code, { argsJson })).detail).toContain('with "number", "cvc"');
});

test.each([
  ['nothing changed', 'return {}', undefined],
  ['only headers', 'return { headers: {} }', undefined],
  ['a body without members', 'return { body: {} }', {}],
  ['a body that is null', 'return { body: null }', null],
  ['all that came, with another body', 'return { ...args, body: 1 }', 1],
  ['all that came, changed in place', 'args.body = 2; return args', 2],
  ['an object without prototype', 'return Object.assign(Object.create(null), { body: 3 })', 3],
  ['an object of a class with a body', 'return new (class { body = 4 })()', 4],
  ['a body from a getter of a class', 'return new (class { get body() { return 5 } })()', 5],
])('%s is a result', async (_name, what, body) => {
  expect(await pool.body(returning(what), { argsJson })).toEqual(body);
});

test('a response transform gets no path, so it can return none', async () => {
  const code = returning('return { body: 1, path: undefined }');
  const error = await pool.failure(code, { kind: 'response', argsJson: '{"body":{},"headers":{}}' });
  expect(error.detail).toContain('with "path"');
});
