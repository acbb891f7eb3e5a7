import { compileTransform } from './index.ts';
import { openTestPool } from './pool-for-tests.ts';

const pool = openTestPool({ limits: { wallMs: 1_000 } });
beforeAll(() => pool.ready());
afterAll(() => pool.close());

test('code that is well-formed', async () => {
  expect(await compileTransform('module.exports = async function (req) { return { body: {} } }')).toBeUndefined();
});

test('code that is not: message, line and column', async () => {
  expect(await compileTransform('const a = 1;\nconst b = ;\n')).toEqual({
    message: expect.stringMatching(/^SyntaxError: /),
    line: 2,
    column: 11,
  });
});

test.each([
  ['', undefined],
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

test('nothing of the code is run', async () => {
  expect(await pool.compile('globalThis.ran = 1; for (;;) {}')).toBeUndefined();
});
