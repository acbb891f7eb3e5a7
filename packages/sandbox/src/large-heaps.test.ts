import { useStack } from '@sluice/testing';
import { LargeHeaps } from './index.ts';
import { openTestPool } from './testing/test-pool.ts';

const mebibyte = 2 ** 20;
const keeping = (bytes: number, more = '') =>
  `module.exports = async ({ svc }) => { const kept = new Uint8Array(${bytes}); ${more}; return { body: kept.length } }`;
const largeBytes = 60 * mebibyte;
const small = keeping(mebibyte);
const large = keeping(largeBytes);
/** Its heap is large until its call is answered. */
const waitsForCall = keeping(largeBytes, 'await svc.tokenize(1)');

const pools = useStack(async (stack) => {
  /** Its code may wait for destinations, so it never uses the first place. */
  const open = (options: Parameters<typeof openTestPool>[0]) => {
    const pool = openTestPool({ threads: 4, everyRunHasSlot: true, ...options });
    stack.defer(() => pool.close());
    return pool;
  };
  return { open };
});

type Pool = ReturnType<typeof openTestPool>;

/** A Tenant's run has a large heap until it is let go. */
async function heldHeap(pool: Pool, tenantId = 'neighbour') {
  const [called, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const host = () => {
    called.resolve();
    return answered.promise;
  };
  const result = pool.body(waitsForCall, { tenantId, ownerId: 'holder', host });
  await called.promise;
  return async () => {
    answered.resolve('{}');
    expect(await result).toBe(largeBytes);
  };
}

const unavailable = { code: 'unavailable', retryAfterSeconds: 1, cause: { limit: 'memoryWait' } };

test('a heap that becomes large waits until another is gone, and small ones do not wait', async () => {
  const pool = pools.current.open({ largeHeaps: new LargeHeaps(2) });
  const letGo = await heldHeap(pool);
  const done: unknown[] = [];
  const waiting = pool.body(large).then((length) => done.push(length));
  done.push(await pool.body(small, { tenantId: 'third' }));
  await letGo();
  await waiting;
  expect(done).toEqual([mebibyte, largeBytes]);
});

test('the control: with memory for two Tenants the other does not wait, but the same one does', async () => {
  const pool = pools.current.open({ largeHeaps: new LargeHeaps(3) });
  const letGo = await heldHeap(pool);
  expect(await pool.failure(large, { tenantId: 'neighbour', wallMs: 2_000 })).toMatchObject(unavailable);
  expect(await pool.body(large)).toBe(largeBytes);
  await letGo();
  expect(await pool.body(large, { tenantId: 'neighbour' })).toBe(largeBytes);
});

test('one that waits too long is refused; that is no fault of its code, and its thread goes on', async () => {
  const suspension = { kills: 1, windowMs: 60_000, suspendMs: 60_000 };
  const pool = pools.current.open({ largeHeaps: new LargeHeaps(2), suspension });
  const letGo = await heldHeap(pool);
  expect(await pool.failure(large, { wallMs: 2_000 })).toMatchObject(unavailable);
  const caught = large.replace('const kept', 'try { new Uint8Array(1e8) } catch {} const kept');
  expect(await pool.failure(caught, { wallMs: 2_000 })).toMatchObject(unavailable);
  expect(await pool.body(small)).toBe(mebibyte);
  expect(pool.state()).toMatchObject({ suspended: 0, stops: { memoryWait: 2 } });
  expect(pool.isSlow('tenant')).toBe(false);
  await letGo();
  expect(await pool.body(large)).toBe(largeBytes);
});

test('memory that native functions hold counts', async () => {
  const pool = pools.current.open({ largeHeaps: new LargeHeaps(2), limits: { cpuMs: 60_000 } });
  const letGo = await heldHeap(pool);
  const deriving = (cost: number) =>
    `const { scryptSync } = require('crypto'); const maxmem = 2 ** 27;
     module.exports = () => ({ body: scryptSync('a', 'b', 4, { N: ${cost}, r: 8, p: 1, maxmem }).length })`;
  const [much, little] = [2 ** 16, 2 ** 10];
  const failure = await pool.failure(deriving(much), { wallMs: 4_000 });
  const derived = await pool.body(deriving(little));
  await letGo();
  expect([failure, derived]).toMatchObject([unavailable, 4]);
});

test('code that may wait for destinations leaves one place to code that ends soon', async () => {
  const largeHeaps = new LargeHeaps(2);
  const reactors = pools.current.open({ largeHeaps });
  const transforms = pools.current.open({ largeHeaps, everyRunHasSlot: false, limits: { cpuMs: 60_000 } });
  expect(await transforms.body(large)).toBe(largeBytes); // New code that takes long would move to a slow thread.
  const letGo = await heldHeap(reactors);
  expect(await reactors.failure(large, { wallMs: 2_000 })).toMatchObject(unavailable);
  expect(await transforms.body(large)).toBe(largeBytes);
  await letGo();
});

test('a thread that is ended while its heap is large gives its place back', async () => {
  const pool = pools.current.open({ largeHeaps: new LargeHeaps(2), limits: { cpuMs: 300 } });
  const uninterruptible = keeping(largeBytes, 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)');
  expect(await pool.failure(uninterruptible, { tenantId: 'neighbour' })).toMatchObject({ cause: { limit: 'cpuMs' } });
  expect(await pool.body(keeping(40 * mebibyte))).toBe(40 * mebibyte);
});
