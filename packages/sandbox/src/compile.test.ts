import { openTestPool } from './testing/test-pool.ts';

const pool = openTestPool();
beforeAll(() => pool.ready());
afterAll(() => pool.close());

test.each([
  ['', undefined],
  ['module.exports = async function (req) { return { body: {} } }', undefined],
  ['return 1', undefined],
  ['// only a comment', undefined],
  ["'use strict'; module.exports = 1", undefined],
  ['const x = await y', { line: 1 }],
  ['export default 1', { line: 1, column: 1 }],
  ['module.exports = () => {', { line: 1 }],
  ['throw new Error("not run")', undefined],
  ['for (;;) {}', undefined],
  [`${'('.repeat(200_000)}`, { line: 1 }],
])('%.40j', async (code, expected) => {
  const result = await pool.compile(code);
  if (expected) expect(result).toMatchObject(expected);
  else expect(result).toBeUndefined();
});

/** What is wrong, and where in the Tenant's own code; the same when it is only run. */
test.each([
  ['module.exports = () => {', 'unexpected end of the code', 1, 25],
  ['module.exports = () => {\n  return {\n\n', 'unexpected end of the code', 2, 11],
  ['const a = [1,\n', 'unexpected end of the code', 1, 14],
  ['f(', 'unexpected end of the code', 1, 3],
  ['x = { a: 1', 'unexpected end of the code', 1, 11],
  ['const s = `a ${b', 'unexpected end of the code', 1, 17],
  ['const', 'unexpected end of the code', 1, 6],
  ['const a = 1;\nif (a) {\n  return 1;\n', 'unexpected end of the code', 3, 12],
  ['module.exports = async (req) => {\n  const a = 1;\n}}', "unexpected '}': it has no opening bracket", 3, 2],
  ['})', "unexpected '}': it has no opening bracket", 1, 1],
  ['export default async () => {}', 'export is not supported: use module.exports = …', 1, 1],
  ['const a = 1;\nexport default async (req) => {}', 'export is not supported: use module.exports = …', 2, 1],
  ['export const a = 1', 'export is not supported: use module.exports = …', 1, 1],
  ["import x from 'y'", "import is not supported: use const … = require('…')", 1, 8],
  ["const y = 1;\nimport { a } from 'fs';", "import is not supported: use const … = require('…')", 2, 8],
  ['const x = await y', 'await is only possible in an async function', 1, 17],
  ['const a = 1;\nconst b = ;\n', "unexpected token in expression: ';'", 2, 11],
])('%j is %j', async (code, message, line, column) => {
  expect(await pool.compile(code)).toEqual({ message: `SyntaxError: ${message}`, line, column });
  expect((await pool.failure(code)).detail).toBe(`SyntaxError: ${message} (line ${line})`);
});

test('nothing of the code is run', async () => {
  expect(await pool.compile('globalThis.ran = 1; for (;;) {}')).toBeUndefined();
});
