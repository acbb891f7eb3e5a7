import { slow } from '@sluice/testing';
import { openTestPool } from './testing/test-pool.ts';

/** A built-in of QuickJS that asks for no interrupt: nothing in the thread can stop it. */
const uninterruptible = 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)';
const limits = { cpuMs: 100 };

slow('0.5 s').each([
  ['a built-in that asks for no interrupt', `module.exports = () => { ${uninterruptible} }`],
  ['one at the top of the module', uninterruptible],
  ['a stack overflow in finally', 'const f = () => { try { f() } finally { f() } }; module.exports = () => f()'],
])('%s ends at the limit of CPU time, long before the wall clock', async (_, code) => {
  const pool = openTestPool({ limits });
  await pool.ready();
  const error = await pool.failure(code);
  expect(error).toMatchObject({ code: 'transform_failed', cause: { limit: 'cpuMs' } });
  expect(error.detail).toContain('more than 100 ms of CPU time');
  const good = 'module.exports = () => ({ body: "replaced" })';
  expect(await pool.body(good, { tenantId: 'other' })).toBe('replaced');
  expect([pool.state().stops, pool.faults]).toEqual([{ cpuMs: 1 }, []]);
  await pool.close();
});

slow('0.5 s')('a thread that was ended gets work again only once its replacement has loaded', async () => {
  const pool = openTestPool({ limits });
  await pool.ready();
  expect(pool.state().threads).toBe(1);
  await pool.failure(`module.exports = () => { ${uninterruptible} }`);
  expect(pool.state().threads).toBe(0);
  expect(await pool.body('module.exports = () => ({ body: 1 })', { tenantId: 'other' })).toBe(1);
  expect(pool.state().threads).toBeGreaterThan(0);
  await pool.close();
});

slow('0.5 s')('code that takes too long to parse ends so, too', async () => {
  const pool = openTestPool({ limits });
  await pool.ready();
  const source = `x = ${'1+'.repeat(3e6)}1`;
  await expect(pool.compile(source)).rejects.toMatchObject({ cause: { limit: 'cpuMs' } });
  expect(await pool.compile('module.exports = () => {}')).toBeUndefined();
  await pool.close();
});

slow('3.4 s')('what runs in the other threads meanwhile is not touched, however long it waits', async () => {
  const pool = openTestPool({ limits, threads: 3 });
  await pool.ready();
  const answer = Promise.withResolvers<string>();
  const waits = pool.body('module.exports = async (req) => ({ body: await req.svc.tokenize(1) })', {
    tenantId: 'waits',
    host: () => answer.promise,
  });
  let hostileEnded = false;
  const hostile = Promise.all(
    Array.from({ length: 3 }, (_, index) =>
      pool.failure(`module.exports = () => { ${uninterruptible} }`, { tenantId: 'hostile', ownerId: `${index}` }),
    ),
  ).finally(() => {
    hostileEnded = true;
  });
  const answers = new Set<unknown>();
  while (!hostileEnded) answers.add(await pool.body('module.exports = () => ({ body: "good" })', { tenantId: 'good' }));
  answer.resolve('"answered"');
  expect(await waits).toBe('answered');
  expect((await hostile).map(({ cause }) => cause)).toEqual(Array(3).fill(expect.objectContaining({ limit: 'cpuMs' })));
  expect([...answers]).toEqual(['good']);
  expect(pool.faults).toEqual([]);
  await pool.close();
});

test('closing waits for what must be ended from outside', async () => {
  const pool = openTestPool({ limits });
  await pool.ready();
  const hostile = pool.failure(`module.exports = () => { ${uninterruptible} }`);
  await pool.started();
  await pool.close();
  expect(await hostile).toMatchObject({ cause: { limit: 'cpuMs' } });
});
