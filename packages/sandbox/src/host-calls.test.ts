import { setTimeout as pause } from 'node:timers/promises';
import { slow } from '@sluice/testing';
import { openTestPool } from './testing/test-pool.ts';

/** A host that answers `now` at once, and anything else when the test says so. */
function heldHost() {
  const begun: string[] = [];
  const held = Promise.withResolvers<string>();
  const host = async (_: string, payloadJson: string) => {
    const payload: string = JSON.parse(payloadJson);
    if (payload === 'now') return '1';
    begun.push(payload);
    return held.promise;
  };
  return { begun, host, answerAll: () => held.resolve('1') };
}

/** Makes calls that it does not wait for. */
const asks = (calls: number, end: string) => `module.exports = async ({ svc, args }) => {
  for (let i = 0; i < ${calls}; i += 1) svc.tokenize(args.name + i).catch(() => {});
  ${end};
  return {};
}`;
/** Its calls have reached the host before the one that is answered at once. */
const leavesBehind = (calls: number, end = '') => asks(calls, `await svc.tokenize('now'); ${end}`);
const named = (name: string) => JSON.stringify({ name });

const isPending = async (run: Promise<unknown>) => {
  const nothing = {};
  return (await Promise.race([run.catch(() => {}), pause(50, nothing)])) === nothing;
};

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(5);
}

test.each([
  ['ends', ''],
  ['throws', 'throw new Error("no")'],
  ['is stopped', 'for (let i = 0; i < 50; i += 1) svc.tokenize(1); await svc.tokenize(2)'],
])(
  'a run that %s is answered after the calls that it began, and its thread serves others meanwhile',
  async (_, end) => {
    const pool = openTestPool();
    const { begun, host, answerAll } = heldHost();
    const leaves = pool.run(leavesBehind(3, end), { host, argsJson: named('a') });
    await until(() => begun.length >= 3 && pool.state().running === 0 && pool.state().runs === 1);
    expect(await pool.body('module.exports = () => ({ body: 1 })')).toBe(1);
    expect(await isPending(leaves)).toBe(true);
    answerAll();
    await Promise.allSettled([leaves]);
    await pool.close();
  },
);

test('a call that nobody waited for has begun once its run is answered', async () => {
  const pool = openTestPool();
  const calls: string[] = [];
  const host = async (_: string, payloadJson: string) => {
    calls.push(payloadJson);
    return '1';
  };
  for (let count = 1; count <= 50; count += 1) {
    const run = pool.run("module.exports = ({ svc }) => { svc.tokenize('a'); throw new Error('no') }", { host });
    await expect(run).rejects.toMatchObject({ code: 'transform_failed' });
    expect(calls.length).toBe(count);
  }
  await pool.close();
});

test('the answer waits for calls no longer than a transform may run', async () => {
  const pool = openTestPool({ limits: { wallMs: 1_000 } });
  await pool.ready();
  const { host } = heldHost();
  const startedAt = performance.now();
  await pool.run(leavesBehind(2), { host, argsJson: named('a') });
  expect(performance.now() - startedAt).toBeGreaterThan(900);
  await pool.close();
});

slow('0.5 s')(
  'a Tenant has 50 calls under way; others wait in order, and none begins once its run has ended',
  async () => {
    const pool = openTestPool();
    const { begun, host, answerAll } = heldHost();
    const runs = [pool.run(leavesBehind(49), { host, argsJson: named('first ') })];
    for (let ended = 1; ended <= 12; ended += 1) {
      await until(() => pool.state().runs === ended);
      const leavesAtOnce = asks(49, 'for (const end = Date.now() + 30; Date.now() < end; );');
      runs.push(pool.run(leavesAtOnce, { host, argsJson: named(`later ${ended} `) }));
    }
    await until(() => pool.state().runs === 13);
    const code = 'module.exports = async ({ svc }) => ({ body: [await svc.tokenize("a"), await svc.tokenize("b")] })';
    const other = heldHost();
    other.answerAll();
    expect(await pool.body(code, { host: other.host, tenantId: 'other' })).toEqual([1, 1]);
    const first = Array.from({ length: 49 }, (_, call) => `first ${call}`);
    expect(begun).toEqual([...first, 'later 1 0']);
    const waits = pool.body(code, { host: other.host });
    expect(await isPending(waits)).toBe(true);
    answerAll();
    expect(await waits).toEqual([1, 1]);
    await Promise.all(runs);
    expect(begun.filter((payload) => payload.startsWith('later'))).toEqual(['later 1 0']);
    await pool.close();
  },
);

test('calls that wait for others of their run begin in order', async () => {
  const pool = openTestPool({ limits: { hostCalls: 120 } });
  const begun: number[] = [];
  const host = async (_: string, payloadJson: string) => {
    begun.push(JSON.parse(payloadJson));
    await pause(1);
    return payloadJson;
  };
  const numbers = Array.from({ length: 120 }, (_, index) => index);
  const code = `module.exports = async ({ svc }) => ({ body: await Promise.all(${JSON.stringify(numbers)}.map(svc.tokenize)) })`;
  expect(await pool.body(code, { host })).toEqual(numbers);
  expect(begun).toEqual(numbers);
  await pool.close();
});

test('a pool that closes waits for the calls that runs left behind', async () => {
  const pool = openTestPool();
  const { begun, host, answerAll } = heldHost();
  const run = pool.run(leavesBehind(1), { host, argsJson: named('a') });
  await until(() => begun.length === 1 && pool.state().runs === 1);
  const closed = pool.close();
  expect(await isPending(closed)).toBe(true);
  answerAll();
  await Promise.all([closed, run]);
});
