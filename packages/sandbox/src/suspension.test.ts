import { slow } from '@sluice/testing';
import type { TransformTask } from './index.ts';
import { TransformSuspended } from './index.ts';
import { Suspensions } from './suspension.ts';
import { openTestPool } from './testing/test-pool.ts';

const task = (part: Partial<TransformTask> = {}): TransformTask => ({
  tenantId: 't',
  ownerId: 'p',
  kind: 'request',
  code: 'one',
  argsJson: '{}',
  configuration: async () => '{}',
  ...part,
});

/** Three kills within a second suspend a transform for half a second. */
function testSuspensions() {
  const time = { now: 0 };
  const suspensions = new Suspensions({ kills: 3, windowMs: 1_000, suspendMs: 500, clock: () => time.now });
  const check = (of = task()) => suspensions.check(of, time.now);
  const kill = (of = task(), askedAt = time.now) => suspensions.ended(of, askedAt, 'cpuMs');
  const end = (askedAt = time.now) => suspensions.ended(task(), askedAt, undefined);
  const ended = (...run: Parameters<Suspensions['ended']>) => suspensions.ended(...run);
  return { counts: suspensions.counts, suspended: () => suspensions.suspended(), ended, time, check, kill, end };
}

test('the last of so many kills within the window suspends, and one run that is not killed ends that', () => {
  const { suspended, counts, time, check, kill, end } = testSuspensions();
  expect([kill(), kill(), suspended(), kill(), suspended()]).toEqual([false, false, 0, true, 1]);
  expect(check).toThrow(/suspended/);
  time.now = 501;
  check();
  expect(check).toThrow(/suspended/);
  end();
  check();
  expect([suspended(), counts]).toEqual([0, { suspensions: 1, suspendedRuns: 2 }]);
});

test('the error says when to come again', () => {
  const { check, kill } = testSuspensions();
  for (let i = 0; i < 3; i += 1) kill();
  const refused = (() => {
    try {
      check();
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

test('when the run that is tried is killed, the suspension goes on', () => {
  const { counts, time, check, kill } = testSuspensions();
  for (let i = 0; i < 3; i += 1) kill();
  time.now = 600;
  check();
  expect(kill()).toBe(false);
  time.now = 1_050;
  expect(check).toThrow(/suspended/);
  expect(counts.suspensions).toBe(1);
});

test('runs that began before the suspension neither end nor prolong it, and so before the run that is tried', () => {
  const { suspended, time, check, kill, end } = testSuspensions();
  time.now = 100;
  for (let i = 0; i < 3; i += 1) kill();
  end(50);
  expect(check).toThrow(/suspended/);
  time.now = 500;
  kill(task(), 50);
  time.now = 700;
  check();
  end(50);
  expect(check).toThrow(/suspended/);
  end(700);
  expect(suspended()).toBe(0);
  check();
});

test('kills further apart than the window do not count together', () => {
  const { counts, time, check, kill } = testSuspensions();
  for (let i = 0; i < 10; i += 1) {
    time.now += 600;
    kill();
  }
  check();
  expect(counts.suspensions).toBe(0);
});

test('runs that go well in between do not make kills count less', () => {
  const { suspended, kill, end } = testSuspensions();
  kill();
  end();
  kill();
  end();
  kill();
  expect(suspended()).toBe(1);
});

test('new code begins anew', () => {
  const { suspended, check, kill } = testSuspensions();
  for (let i = 0; i < 3; i += 1) kill();
  check(task({ code: 'two' }));
  expect(suspended()).toBe(0);
});

test.each([{ tenantId: 'other' }, { ownerId: 'other' }, { kind: 'response' as const }])(
  '%j is not suspended with it',
  (other) => {
    const { check, kill } = testSuspensions();
    for (let i = 0; i < 3; i += 1) kill();
    check(task(other));
    expect(check).toThrow(/suspended/);
  },
);

test('what ends a run at once is no kill', () => {
  const { ended, check } = testSuspensions();
  for (const limit of ['outputBytes', 'hostCalls', 'stuck', 'stackBytes'] as const) {
    for (let i = 0; i < 5; i += 1) ended(task(), 0, limit);
  }
  check();
});

test('without a number of kills nothing is ever suspended', () => {
  const suspensions = new Suspensions({ kills: 0, windowMs: 1_000, suspendMs: 500 });
  for (let i = 0; i < 5; i += 1) expect(suspensions.ended(task(), 0, 'cpuMs')).toBe(false);
  suspensions.check(task(), 0);
});

test('many transforms that are killed take no memory without end', () => {
  const { suspended, kill } = testSuspensions();
  for (let i = 0; i < 10_100; i += 1) for (let k = 0; k < 3; k += 1) kill(task({ ownerId: `${i}` }));
  expect(suspended()).toBe(10_000);
});

slow('0.5 s')('in a pool: the killed transform is refused at once, others go on, and new code of it runs', async () => {
  const limits = { cpuMs: 50 };
  const pool = openTestPool({ limits, suspension: { kills: 2, windowMs: 60_000, suspendMs: 60_000 } });
  await pool.ready();
  const loop = 'module.exports = () => { for (;;) {} }';
  for (let i = 0; i < 2; i += 1) expect((await pool.failure(loop)).detail).toMatch(/CPU time/);
  expect((await pool.failure(loop)).detail).toMatch(/^The transform is suspended: it was stopped 2 times within 60 s/);
  expect(await pool.body('module.exports = () => ({ body: 1 })', { ownerId: 'other' })).toBe(1);
  expect(pool.state()).toMatchObject({ suspended: 1, suspensions: 1, suspendedRuns: 1 });
  expect(pool.state().stops).toEqual({ cpuMs: 2 });
  expect(await pool.body(`${loop}; module.exports = () => ({ body: 2 })`)).toBe(2);
  expect(pool.state().suspended).toBe(0);
  await pool.close();
});
