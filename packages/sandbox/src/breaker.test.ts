import { newBreaker } from './breaker.ts';
import type { TransformTask } from './index.ts';
import { TransformSuspended } from './index.ts';
import { openTestPool } from './testing/test-pool.ts';

const task = (part: Partial<TransformTask> = {}): TransformTask => ({
  tenantId: 't',
  proxyId: 'p',
  kind: 'request',
  code: 'one',
  argsJson: '{}',
  configuration: async () => '{}',
  ...part,
});

function newTestBreaker() {
  const time = { now: 0 };
  const breaker = newBreaker({ kills: 3, windowMs: 1_000, openMs: 500, clock: () => time.now });
  const kill = (of = task()) => breaker.ended(of, 'cpuMs');
  return { breaker, time, kill };
}

test('it opens at the last of so many kills within the window, and closes after one run that is not killed', () => {
  const { breaker, time, kill } = newTestBreaker();
  expect([kill(), kill(), breaker.open, kill(), breaker.open, breaker.trips]).toEqual([false, false, 0, true, 1, 1]);
  expect(() => breaker.check(task())).toThrow(/suspended/);
  time.now = 501;
  const trial = task();
  breaker.check(trial);
  expect(() => breaker.check(task())).toThrow(/suspended/);
  breaker.ended(trial, undefined);
  breaker.check(task());
  expect([breaker.open, breaker.refusals]).toEqual([0, 2]);
});

test('the error says when to come again', () => {
  const { breaker, kill } = newTestBreaker();
  for (let i = 0; i < 3; i += 1) kill();
  const refused = (() => {
    try {
      breaker.check(task());
      return undefined;
    } catch (error) {
      return error;
    }
  })();
  expect(refused).toMatchObject({
    code: 'transform_failed',
    retryAfterSeconds: 1,
    cause: expect.any(TransformSuspended),
  });
});

test('a trial that is killed opens it again, and a run that began before does not close it', () => {
  const { breaker, time, kill } = newTestBreaker();
  for (let i = 0; i < 3; i += 1) kill();
  breaker.ended(task(), undefined);
  expect(() => breaker.check(task())).toThrow(/suspended/);
  time.now = 600;
  const trial = task();
  breaker.check(trial);
  kill(trial);
  time.now = 1_050;
  expect(() => breaker.check(task())).toThrow(/suspended/);
  expect(breaker.trips).toBe(1);
});

test('kills further apart than the window do not count together', () => {
  const { breaker, time, kill } = newTestBreaker();
  for (let i = 0; i < 10; i += 1) {
    time.now += 600;
    kill();
  }
  breaker.check(task());
  expect(breaker.trips).toBe(0);
});

test('new code resets it', () => {
  const { breaker, kill } = newTestBreaker();
  for (let i = 0; i < 3; i += 1) kill();
  breaker.check(task({ code: 'two' }));
  expect(breaker.open).toBe(0);
});

test.each([{ tenantId: 'other' }, { proxyId: 'other' }, { kind: 'response' as const }])(
  '%j is not touched by it',
  (other) => {
    const { breaker, kill } = newTestBreaker();
    for (let i = 0; i < 3; i += 1) kill();
    breaker.check(task(other));
    expect(() => breaker.check(task())).toThrow(/suspended/);
  },
);

test('what ends a run at once is no kill', () => {
  const { breaker } = newTestBreaker();
  for (const limit of ['outputBytes', 'hostCalls', 'stuck', 'stackBytes'] as const) {
    for (let i = 0; i < 5; i += 1) breaker.ended(task(), limit);
  }
  breaker.check(task());
});

test('many transforms that are killed take no memory without end', () => {
  const { breaker } = newTestBreaker();
  for (let i = 0; i < 10_100; i += 1) for (let k = 0; k < 3; k += 1) breaker.ended(task({ proxyId: `${i}` }), 'cpuMs');
  expect(breaker.open).toBe(10_000);
});

test('in a pool: the killed transform is refused at once, others go on, and new code of it runs', async () => {
  const limits = { cpuMs: 50, wallMs: 400 };
  const pool = openTestPool({ limits, breaker: { kills: 2, windowMs: 60_000, openMs: 60_000 } });
  await pool.ready();
  const loop = 'module.exports = () => { for (;;) {} }';
  for (let i = 0; i < 2; i += 1) expect((await pool.failure(loop)).detail).toMatch(/CPU time|took longer/);
  expect((await pool.failure(loop)).detail).toMatch(/^The transform is suspended: it was stopped 2 times within 60 s/);
  expect(await pool.body('module.exports = () => ({ body: 1 })', { proxyId: 'other' })).toBe(1);
  expect(pool.state()).toMatchObject({ suspended: 1, suspensions: 1, suspendedRuns: 1 });
  const stops = Object.values(pool.state().stops); // of CPU time, or on a busy machine of the wall clock
  expect(stops.reduce((sum, count) => sum + count, 0)).toBe(2);
  expect(await pool.body(`${loop}; module.exports = () => ({ body: 2 })`)).toBe(2);
  expect(pool.state().suspended).toBe(0);
  await pool.close();
});
