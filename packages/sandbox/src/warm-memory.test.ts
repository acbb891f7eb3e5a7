import { slow } from '@sluice/testing';
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
