import { eventually, eventuallyEqual, slow } from '@sluice/testing';
import { WarmMemory } from './index.ts';
import { openTestPool } from './testing/test-pool.ts';

const pool = openTestPool({ limits: { cpuMs: 10_000 } });
beforeAll(() => pool.ready());
afterAll(() => pool.close());

slow('6.2 s')('the memory of instances that only parsed does not gather', async () => {
  const code = `[${'/(?:\\p{L}{9}){9}/u,'.repeat(9_000)}]`;
  expect(await pool.compile(code)).toBeUndefined();
  const startBytes = process.memoryUsage().rss;
  for (let i = 0; i < 11; i += 1) await pool.compile(code);
  expect(process.memoryUsage().rss - startBytes).toBeLessThan(150 * 2 ** 20);
});

describe('transforms that keep much memory', () => {
  const proxies = Array.from({ length: 32 }, (_, index) => `keeper ${index}`);
  const keeping = (bytes: number) =>
    `const kept = new Uint8Array(${bytes}).fill(7); let calls = 0; module.exports = () => ({ body: (calls += 1, calls) })`;
  /** How many of the 32 are warm when they run again, the latest first. */
  const warm = async (code: string) => {
    for (const ownerId of proxies) expect(await pool.body(code, { ownerId })).toBe(1);
    let count = 0;
    for (const ownerId of proxies.toReversed()) count += (await pool.body(code, { ownerId })) === 2 ? 1 : 0;
    return count;
  };

  slow('2.8 s').each([9, 3])('of %i MiB each: only the latest stay warm, 64 MiB in all', async (mebibytes) => {
    const count = await warm(keeping(mebibytes * 2 ** 20));
    expect(count).toBeGreaterThan(4);
    expect(count * mebibytes).toBeLessThanOrEqual(64);
  });

  slow('2 s')('the control: as many that load modules and keep little all stay warm', async () => {
    const modules = ['buffer', 'crypto', 'url', 'util'].map((name) => `require('${name}');`).join(' ');
    expect(await warm(`${modules} ${keeping(2 ** 18)}`)).toBe(32);
  });
});

const counting = 'let runs = 0; module.exports = () => ({ body: (runs += 1) })';

describe('instances of several pools', () => {
  const kept = `const kept = new Uint8Array(${9 * 2 ** 20}).fill(7); ${counting}`;
  /** What stays warm in two pools, the busier one last, in MiB. */
  const warmBytes = async (warm?: WarmMemory) => {
    const pools = [1, 2].map(() => openTestPool(warm ? { warm } : {}));
    for (const each of pools) for (const ownerId of ['a', 'b', 'c', 'd']) await each.body(kept, { ownerId });
    const bytes = () => pools.map((each) => each.state().warmBytes / 2 ** 20);
    if (warm) await eventually('the older ones give back', () => bytes().reduce((sum, each) => sum + each, 0) <= 40);
    const measured = bytes();
    expect(await pools[1]?.body(kept, { ownerId: 'd' })).toBe(2);
    await Promise.all(pools.map((each) => each.close()));
    return measured as [number, number];
  };

  test('share the memory of their process, and those of the thread that was used longest ago go first', async () => {
    const [older, newer] = await warmBytes(new WarmMemory(40 * 2 ** 20));
    expect(older).toBeLessThan(newer);
    expect(newer).toBeGreaterThan(30);
  });

  test('the control: without that limit all stay', async () => {
    const [older, newer] = await warmBytes();
    expect(older + newer).toBeGreaterThan(72);
  });
});

test('a thread that is idle for ten seconds ends, and one that others would wait for stays', async () => {
  const pools = [false, true].map((keepsThreads) => openTestPool({ keepsThreads }));
  await Promise.all(pools.map((pool) => pool.ready()));
  const runEach = () => Promise.all(pools.map((pool) => pool.body(counting)));
  const threads = () => pools.map((pool) => pool.state().threads);
  const startedAt = performance.now();
  expect(await runEach()).toEqual([1, 1]);
  await eventuallyEqual(threads, [0, 1]);
  expect(performance.now() - startedAt).toBeGreaterThan(9_900);
  expect(await runEach()).toEqual([1, 2]);
  expect(threads()).toEqual([1, 1]);
  await Promise.all(pools.map((pool) => pool.close()));
  expect(pools.map((pool) => pool.faults)).toEqual([[], []]);
});
