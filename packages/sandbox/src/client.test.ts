import { ServiceError } from '@sluice/problems';
import { openTestPool } from './testing/test-pool.ts';

const pool = openTestPool();
beforeAll(() => pool.ready());
afterAll(() => pool.close());

/** Remembers the calls and answers each with its number. */
function recordingHost() {
  const calls: [string, unknown][] = [];
  const host = async (operation: string, payloadJson: string) => {
    calls.push([operation, JSON.parse(payloadJson)]);
    return JSON.stringify({ call: calls.length });
  };
  return { calls, host };
}

test('without a host there is no client', async () => {
  expect(await pool.body('module.exports = (req) => ({ body: [typeof req.svc, "svc" in req] })')).toEqual([
    'undefined',
    false,
  ]);
});

test.each([
  'await req.svc.tokenize(1)',
  'await req.svc.tokenise(1)',
  'await req.svc.tokens.create({})',
  'const { svc } = req; await svc.detokenize(1)',
  'const { tokenize } = req.svc; await tokenize(1)',
])('without a host the error of { %s } says that there is no Application', async (use) => {
  const { detail } = await pool.failure(`module.exports = async (req) => { ${use}; return {} }`);
  expect(detail).toContain('req.svc is undefined, because the Proxy has no Application (line 1)');
});

test('an error that has nothing to do with the client does not speak of it', async () => {
  const { detail } = await pool.failure(
    'module.exports = async (req) => ({ body: req.args.body.card.number, svc: req.svc })',
  );
  expect(detail).toBe("TypeError: cannot read property 'number' of undefined (line 1)");
});

test.each([
  ['svc.tokenise(1)', 'svc.tokenise'],
  ['svc.tokens.retreive("id")', 'svc.tokens.retreive'],
  ['(({ detokenise }) => detokenise(1))(svc)', 'svc.detokenise'],
])('a method that there is not is named: %s', async (use, missing) => {
  const { calls, host } = recordingHost();
  const { detail } = await pool.failure(`module.exports = async ({ svc }) => { await ${use}; return {} }`, { host });
  expect(detail).toContain(
    `there is no ${missing}, only tokens.create, tokens.retrieve, tokens.update, tokens.delete, tokenize, detokenize`,
  );
  expect(calls).toEqual([]);
});

test('looking whether a method is there is no error, and says nothing in a later run', async () => {
  const { host } = recordingHost();
  const code = `module.exports = async ({ svc, args }) => { if (args.look) return { body: [typeof svc.search, 'search' in svc, svc.tokens.search] };
    (5)(); }`;
  expect(await pool.body(code, { host, argsJson: '{"look":true}' })).toEqual(['undefined', false, null]);
  expect((await pool.failure(code, { host, argsJson: '{}' })).detail).not.toContain('there is no');
});

test('every operation reaches the host with its payload', async () => {
  const { calls, host } = recordingHost();
  const code = `module.exports = async ({ svc }) => ({ body: [
    await svc.tokenize({ card: '4242' }), await svc.detokenize(['{{ id }}']),
    await svc.tokens.create({ type: 'token', data: 1 }), await svc.tokens.retrieve('id'),
    await svc.tokens.update('id', { data: 2 }), await svc.tokens.delete('id') ] })`;
  expect(await pool.body(code, { host })).toEqual([1, 2, 3, 4, 5, 6].map((call) => ({ call })));
  expect(calls).toEqual([
    ['tokenize', { card: '4242' }],
    ['detokenize', ['{{ id }}']],
    ['tokens.create', { type: 'token', data: 1 }],
    ['tokens.retrieve', { id: 'id' }],
    ['tokens.update', { id: 'id', patch: { data: 2 } }],
    ['tokens.delete', { id: 'id' }],
  ]);
});

test('calls run side by side, and answers find their calls in any order', async () => {
  const all = Promise.withResolvers<void>();
  let underWay = 0;
  const host = async (_: string, payloadJson: string) => {
    underWay += 1;
    if (underWay === 3) all.resolve();
    await all.promise; // one after the other they would wait for ever
    await new Promise((resolve) => setTimeout(resolve, 60 - 20 * JSON.parse(payloadJson)));
    return payloadJson;
  };
  const code = 'module.exports = async (req) => ({ body: await Promise.all([0, 1, 2].map(req.svc.tokenize)) })';
  expect(await pool.body(code, { host, ownerId: 'parallel' })).toEqual([0, 1, 2]);
});

test('an empty answer is undefined', async () => {
  const code = 'module.exports = async (req) => ({ body: typeof (await req.svc.tokens.delete("id")) })';
  expect(await pool.body(code, { host: async () => '' })).toBe('undefined');
});

test('a ServiceError is an Error with its detail and status; anything else says nothing', async () => {
  const code = `module.exports = async (req) => {
    try { await req.svc.tokenize(1) } catch (error) { return { body: [error instanceof Error, error.message, error.status, error.code] } } }`;
  const refuse = (error: unknown) => ({ host: () => Promise.reject(error) });
  expect(await pool.body(code, refuse(new ServiceError('forbidden', 'token:create is missing')))).toEqual([
    true,
    'token:create is missing',
    403,
    'forbidden',
  ]);
  expect(JSON.stringify(await pool.body(code, refuse(new Error('password'))))).not.toContain('password');
});

test('an error that is not caught fails the transform', async () => {
  const host = () => Promise.reject(new ServiceError('not_found', 'Token 1 does not exist'));
  const error = await pool.failure('module.exports = async (req) => {\n await req.svc.tokens.retrieve("1") }', {
    host,
  });
  expect(error).toMatchObject({ code: 'transform_failed' });
  expect(error.detail).toContain('Token 1 does not exist');
});

test('a host that throws at once is a rejection too', async () => {
  const host = () => {
    throw new ServiceError('conflict', 'exists');
  };
  expect(
    (await pool.failure('module.exports = async (req) => { await req.svc.tokenize(1) }', { host })).detail,
  ).toContain('exists');
});

test('timers wait for calls that are under way', async () => {
  const code = `module.exports = async (req) => ({ body: await Promise.race([
    req.svc.tokenize(1), new Promise((resolve) => setTimeout(resolve, 10, 'timer')) ]) })`;
  expect(await pool.body(code, { host: async () => '"call"' })).toBe('call');
});

test('thenables in answers and in what the code passes are plain data', async () => {
  const { calls, host } = recordingHost();
  const code = 'module.exports = async (req) => ({ body: await req.svc.tokenize({ then: 1 }) })';
  expect(await pool.body(code, { host: async () => '{"then":"text"}' })).toEqual(JSON.parse('{"then":"text"}'));
  await pool.body(code, { host });
  expect(calls).toEqual([['tokenize', JSON.parse('{"then":1}')]]);
});

test.each(['undefined', '() => 1', '1n'])('a payload of %s is refused in the sandbox', async (value) => {
  const { calls, host } = recordingHost();
  await pool.failure(`module.exports = async (req) => { await req.svc.tokenize(${value}) }`, { host });
  expect(calls).toEqual([]);
});

test('a call that the code does not wait for is over before the answer, but its answer is not seen later', async () => {
  const code = `let late = 'nothing';
    module.exports = (req) => { const body = late; req.svc.tokenize(1).then(() => { late = 'seen' }); return { body } }`;
  const host = () => new Promise<string>((resolve) => setTimeout(resolve, 50, '1'));
  expect(await pool.body(code, { host, ownerId: 'late' })).toBe('nothing');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await pool.body(code, { host, ownerId: 'late' })).toBe('nothing');
});

test('the host of one invocation is never asked by another', async () => {
  const code = 'module.exports = async (req) => ({ body: await req.svc.tokenize(1) })';
  const named = (name: string) => ({ host: async () => JSON.stringify(name), tenantId: name });
  const names = Array.from({ length: 20 }, (_, index) => `host ${index}`);
  expect(await Promise.all(names.map((name) => pool.body(code, named(name))))).toEqual(names);
});
