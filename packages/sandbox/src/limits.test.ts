import { slow } from '@sluice/testing';
import { TransformStopped } from './index.ts';
import { openTestPool } from './testing/test-pool.ts';

const limits = {
  cpuMs: 1_000,
  heapBytes: 16 * 2 ** 20,
  outputBytes: 10_000,
  hostCalls: 5,
  consoleBytes: 100,
};
const pool = openTestPool({ limits });
beforeAll(() => pool.ready());
afterAll(() => pool.close());

const good = 'module.exports = () => ({ body: "good" })';
const host = async () => '{}';

test.each([
  ['heapBytes', 'const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))', 'more than 16777216 bytes of memory'],
  ['heapBytes', 'return "x".repeat(2 ** 28)', 'bytes of memory'],
  ['stackBytes', 'const f = () => f() + 1; f()', 'more than 524288 bytes of stack'],
  ['outputBytes', 'return { body: "x".repeat(10_001) }', 'more than 10000 bytes'],
  ['outputBytes', 'return { body: "é".repeat(5_000) }', 'more than 10000 bytes'],
  ['outputBytes', 'return { headers: { a: "x".repeat(10_001) } }', 'more than 10000 bytes'],
  ['outputBytes', 'await req.svc.tokenize("x".repeat(10_001))', 'more than 10000 bytes'],
  ['outputBytes', 'await req.svc.tokenize(Array(200).fill([]))', 'more than 10000 bytes'],
  ['outputBytes', 'for (let i = 0; i < 2; i += 1) await req.svc.tokenize(Array(100).fill(1))', 'more than 10000 bytes'],
  ['hostCalls', 'for (let i = 0; i < 6; i += 1) await req.svc.tokenize("fast")', 'more than 5 calls'],
  ['stuck', 'await new Promise(() => {})', 'can never settle'],
])('%s stops %s', async (limit, statement, reason) => {
  const error = await pool.failure(`module.exports = async (req) => { ${statement} }`, { host });
  expect(error).toMatchObject({ code: 'transform_failed', status: 500 });
  expect(error.detail).toContain(reason);
  expect(error.cause).toBeInstanceOf(TransformStopped);
  expect(error.cause).toMatchObject({ limit });
  expect(await pool.body(good, { ownerId: 'good' })).toBe('good');
});

test('wallMs stops a wait that would end later', async () => {
  const hasty = openTestPool({ limits: { wallMs: 300 } });
  await hasty.ready();
  const hang = () => new Promise<string>(() => {});
  const error = await hasty.failure('module.exports = (req) => req.svc.tokenize(1)', { host: hang });
  expect(error).toMatchObject({ code: 'transform_failed', status: 500, cause: { limit: 'wallMs' } });
  expect(error.detail).toContain('longer than 300 ms');
  expect(error.cause).toBeInstanceOf(TransformStopped);
  await hasty.close();
});

slow('0.5 s')('cpuMs stops an endless loop, long before the wall clock does', async () => {
  const patient = openTestPool({ limits: { cpuMs: 100 } });
  await patient.ready();
  const error = await patient.failure('module.exports = () => { for (;;) {} }');
  expect(error.detail).toContain('more than 100 ms of CPU time');
  expect(error.cause).toMatchObject({ limit: 'cpuMs' });
  await patient.close();
});

test('exactly the allowed output passes', async () => {
  const result = await pool.run('module.exports = () => ({ body: "x".repeat(9_998) })');
  expect(result.bodyJson).toHaveLength(10_000);
});

test('exactly the allowed calls pass', async () => {
  const code =
    'module.exports = async (req) => { await Promise.all([1, 2, 3, 4, 5].map(req.svc.tokenize)); return {} }';
  await expect(pool.run(code, { host })).resolves.toMatchObject({ bodyJson: undefined });
});

test('commas, brackets and quotes within a text are no values of a payload', async () => {
  const code =
    'module.exports = async (req) => { await req.svc.tokenize(\'\\\\",[{\'.repeat(800)); await req.svc.tokenize([1, "a"]); return {} }';
  await expect(pool.run(code, { host })).resolves.toMatchObject({ bodyJson: undefined });
});

test('waiting for a call is no CPU time', async () => {
  const slow = () => new Promise<string>((resolve) => setTimeout(resolve, 300, '"done"'));
  expect(await pool.body('module.exports = async (req) => ({ body: await req.svc.tokenize(1) })', { host: slow })).toBe(
    'done',
  );
});

test('a promise that can never settle is found long before the wall clock ends it', async () => {
  const error = await pool.failure('module.exports = () => new Promise(() => {})');
  expect(error.cause).toMatchObject({ limit: 'stuck' });
});

test('console text beyond the limit is dropped, and the transform goes on', async () => {
  pool.printed.length = 0;
  const code =
    'module.exports = () => { for (let i = 0; i < 50; i += 1) console.log("0123456789"); return { body: "x" } }';
  expect(await pool.body(code)).toBe('x');
  // Each line costs its end, too: empty ones are not free.
  expect(pool.printed.map((entry) => entry.text).join('\n')).toHaveLength(100);
});

test('memory and stack that were caught in the code count for nothing', async () => {
  const code = `module.exports = () => {
    let caught = '';
    try { const f = () => f() + 1; f() } catch (error) { caught = error.message }
    return { body: caught } }`;
  expect(await pool.body(code)).toBe('stack overflow');
});

test('a full queue refuses with Retry-After, and what waits is run', async () => {
  const small = openTestPool({ queueLimit: 2 });
  await small.ready();
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => small.run(good)));
  expect(results.map((result) => result.status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ]);
  await small.close();
  await expect(small.run(good)).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
});

test('what waits longer than a transform may run is refused', async () => {
  const busy = openTestPool({ limits: { wallMs: 300 }, waitMs: 300 });
  await busy.ready();
  const hang = () => new Promise<string>(() => {});
  const first = busy.failure('module.exports = (req) => req.svc.tokenize(1)', { host: hang });
  const others = Array.from({ length: 3 }, (_, index) =>
    busy.failure('module.exports = (req) => req.svc.tokenize(1)', { host: hang, ownerId: `${index}` }),
  );
  expect(await first).toMatchObject({ code: 'transform_failed' });
  expect((await Promise.all(others)).map((error) => error.code)).toContain('unavailable');
  await busy.close();
});

test('closing waits for what runs and refuses what waits', async () => {
  const closing = openTestPool();
  await closing.ready();
  const host = () => new Promise<string>((resolve) => setTimeout(resolve, 100, '"done"'));
  const runs = closing.body('module.exports = async (req) => ({ body: await req.svc.tokenize(1) })', { host });
  const waits = closing.failure(good);
  await closing.started();
  await Promise.all([closing.close(), closing.close()]);
  expect(await runs).toBe('done');
  expect(await waits).toMatchObject({ code: 'unavailable', status: 503 });
});

describe('with little memory left', () => {
  // A letter takes a byte in the guest, and two on its way out.
  const narrow = openTestPool({ limits: { heapBytes: 4 * 2 ** 20, outputBytes: 5 * 2 ** 20 } });
  beforeAll(() => narrow.ready());
  afterAll(() => narrow.close());
  const lengths = Array.from({ length: 19 }, (_, i) => (i + 1) * 2 ** 17);

  /** What became of texts of growing length: whether it was the right one, or the limit. */
  const outcomes = async (code: string, isRight: (body: string, length: number) => boolean, given = {}) => {
    const seen = new Set<unknown>();
    for (const length of lengths) {
      const run = narrow.run(code, { argsJson: JSON.stringify({ length }), ...given });
      seen.add(
        await run.then(
          ({ bodyJson = '' }) => isRight(bodyJson, length),
          (error) => error.cause.limit,
        ),
      );
    }
    return seen;
  };
  const wholeOrRefused = new Set([true, 'heapBytes']);

  slow('1.2 s')('a result is whole or refused', async () => {
    const code = 'module.exports = ({ args }) => ({ body: "é".repeat(args.length) })';
    expect(await outcomes(code, (body, length) => body.length === length + 2)).toEqual(wholeOrRefused);
  });

  slow('1 s')('what goes to the client is whole or refused', async () => {
    const code = 'module.exports = async (req) => ({ body: await req.svc.tokenize("é".repeat(req.args.length)) })';
    const measure = async (_: string, payload: string) => `${payload.length - 2}`;
    expect(await outcomes(code, (body, length) => body === `${length}`, { host: measure })).toEqual(wholeOrRefused);
  });
});
