import { CustomHttpResponse } from './index.ts';
import { openTestPool } from './testing/test-pool.ts';

const pool = openTestPool({ limits: { outputBytes: 1_000 } });
beforeAll(() => pool.ready());
afterAll(() => pool.close());

const thrower = (expression: string) =>
  `const e = require('svc-errors'); module.exports = async () => { throw ${expression} }`;

test.each([
  ['BadRequestError', 'bad_request', 400],
  ['AuthenticationError', 'unauthenticated', 401],
  ['AuthorizationError', 'forbidden', 403],
  ['RateLimitError', 'too_many_requests', 429],
  ['TransformRuntimeError', 'transform_failed', 500],
])('%s is %s', async (name, code, status) => {
  const error = await pool.failure(
    thrower(`new e.${name}('no', { errors: { 'card.number': ['is wrong', 'is short'] } })`),
  );
  expect(error).toMatchObject({ name: 'ServiceError', code, status, detail: 'no' });
  expect(error.errors).toEqual({ 'card.number': ['is wrong', 'is short'] });
});

test.each([
  ["'only text'", 'only text', undefined],
  ['', 'The transform refused the request', undefined],
  ["'no', { a: 'one' }", 'no', { a: ['one'] }],
  ["{ a: ['one'] }", 'a one', { a: ['one'] }],
  ["{ errors: { a: ['one'] } }", 'a one', { a: ['one'] }],
  ["'no', {}", 'no', undefined],
  ["'no', { ['__proto__']: ['x'] }", 'no', JSON.parse('{"__proto__":["x"]}')],
])('BadRequestError(%s)', async (parameters, detail, errors) => {
  const error = await pool.failure(thrower(`new e.BadRequestError(${parameters})`));
  expect(error).toMatchObject({ code: 'bad_request', detail });
  expect(JSON.stringify(error.errors)).toBe(JSON.stringify(errors));
});

test.each(["'no', { a: 1 }", "'no', { a: [1] }", "'no', ['a']", "'no', 'text'"])(
  'errors of another shape are refused: %s',
  async (parameters) => {
    expect((await pool.failure(thrower(`new e.BadRequestError(${parameters})`))).detail).toContain(
      'errors must be an object',
    );
  },
);

test('a subclass is what its base is, and what only looks like one is not', async () => {
  expect(await pool.failure(thrower("new (class Own extends e.BadRequestError {})('sub')"))).toMatchObject({
    code: 'bad_request',
  });
  expect(
    await pool.failure(thrower("Object.assign(new Error('fake'), { name: 'BadRequestError', status: 400 })")),
  ).toMatchObject({
    code: 'transform_failed',
  });
  expect(await pool.failure(thrower('Object.create(e.BadRequestError.prototype)'))).toMatchObject({
    code: 'transform_failed',
  });
});

test('code can catch them', async () => {
  const code = `const { BadRequestError } = require('svc-errors');
    module.exports = () => { try { throw new BadRequestError('no', { errors: { a: 'b' } }) } catch (error) {
      return { body: [error instanceof BadRequestError, error instanceof Error, error.name, error.status, error.errors] } } }`;
  expect(await pool.body(code)).toEqual([true, true, 'BadRequestError', 400, { a: ['b'] }]);
});

describe('CustomHttpResponseError', () => {
  test('is the whole answer', async () => {
    const error = await pool.failure(
      thrower("new e.CustomHttpResponseError({ status: 418, headers: { 'X-A': 'b' }, body: { teapot: true } })"),
    );
    expect(error).toBeInstanceOf(CustomHttpResponse);
    expect(error).toMatchObject({ status: 418, headersJson: '{"X-A":"b"}', bodyJson: '{"teapot":true}' });
  });

  test('headers and body may be missing', async () => {
    expect(await pool.failure(thrower('new e.CustomHttpResponseError({ status: 204 })'))).toMatchObject({
      status: 204,
      headersJson: '{}',
      bodyJson: undefined,
    });
  });

  test.each(['99', '600', '200.5', '"200"', 'null', 'NaN'])('status %s is refused', async (status) => {
    const error = await pool.failure(thrower(`new e.CustomHttpResponseError({ status: ${status} })`));
    expect(error).toMatchObject({ code: 'transform_failed' });
    expect(error.detail).toContain('status must be an integer from 100 to 599');
  });

  test('is bound by the limit of output', async () => {
    const error = await pool.failure(thrower("new e.CustomHttpResponseError({ status: 200, body: 'x'.repeat(1000) })"));
    expect(error.detail).toContain('more than 1000 bytes');
  });
});
