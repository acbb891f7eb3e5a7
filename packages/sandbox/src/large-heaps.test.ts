import { useStack } from '@sluice/testing';
import { LargeHeaps } from './index.ts';
import { openTestPool } from './testing/test-pool.ts';

const mebibyte = 2 ** 20;
const filling = (bytes: number, more = '') =>
  `module.exports = async ({ svc }) => { const kept = new Uint8Array(${bytes}).fill(7); ${more}; return { body: kept[9] } }`;
const small = filling(mebibyte);
const large = filling(60 * mebibyte);
/** Its heap is large until its call is answered. */
const waitsForCall = filling(60 * mebibyte, 'await svc.tokenize(1)');

/** Another Tenant's run has a large heap until it is let go. */
const heldHeap = async (pool: ReturnType<typeof openTestPool>) => {
  const [called, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const host = () => {
    called.resolve();
    return answered.promise;
  };
  const result = pool.body(waitsForCall, { tenantId: 'neighbour', ownerId: 'holder', host });
  await called.promise;
  return { letGo: () => answered.resolve('{}'), result };
};

const pools = useStack(async (stack) => {
  const open = (options: Parameters<typeof openTestPool>[0]) => {
    const pool = openTestPool({ threads: 3, ...options });
    stack.defer(() => pool.close());
    return pool;
  };
  return { open };
});

const unavailable = { code: 'unavailable', retryAfterSeconds: 1, cause: { limit: 'memoryWait' } };

test('a heap that becomes large waits until another is gone, and small ones do not wait', async () => {
  const pool = pools.current.open({ largeHeaps: new LargeHeaps(1) });
  await pool.body(small, { tenantId: 'third' }); // New code would wait for a thread.
  const holder = await heldHeap(pool);
  const done: string[] = [];
  const waiting = pool.body(large).then((kept) => done.push(`large ${kept}`));
  expect(await pool.body(small, { tenantId: 'third' })).toBe(7);
  done.push('small');
  holder.letGo();
  await waiting;
  expect(done).toEqual(['small', 'large 7']);
  expect(await holder.result).toBe(7);
});

test('the control: with memory for two it does not wait', async () => {
  const pool = pools.current.open({ largeHeaps: new LargeHeaps(2) });
  const holder = await heldHeap(pool);
  expect(await pool.body(large)).toBe(7);
  holder.letGo();
  expect(await holder.result).toBe(7);
});

test('one that waits too long is refused; that counts as no kill of its code, and its thread goes on', async () => {
  const suspension = { kills: 1, windowMs: 60_000, suspendMs: 60_000 };
  const pool = pools.current.open({ largeHeaps: new LargeHeaps(1), suspension });
  const holder = await heldHeap(pool);
  expect(await pool.failure(large, { wallMs: 1_000 })).toMatchObject(unavailable);
  expect(await pool.body(small)).toBe(7);
  expect(pool.state()).toMatchObject({ suspended: 0, stops: { memoryWait: 1 } });
  holder.letGo();
  await holder.result;
  expect(await pool.body(large)).toBe(7);
});

test('memory that native functions hold counts', async () => {
  const pool = pools.current.open({ largeHeaps: new LargeHeaps(1) });
  const holder = await heldHeap(pool);
  const unpacking = `const zlib = require('zlib'); const packed = zlib.gzipSync(Buffer.alloc(${30 * mebibyte}));
    module.exports = () => ({ body: zlib.gunzipSync(packed).length })`;
  expect(await pool.failure(unpacking, { wallMs: 2_000 })).toMatchObject(unavailable);
  holder.letGo();
  await holder.result;
});

test('code that may wait for destinations leaves one place to code that ends soon', async () => {
  const largeHeaps = new LargeHeaps(2);
  const reactors = pools.current.open({ largeHeaps, everyRunHasSlot: true });
  const transforms = pools.current.open({ largeHeaps });
  const holder = await heldHeap(reactors);
  expect(await reactors.failure(large, { wallMs: 1_000 })).toMatchObject(unavailable);
  expect(await transforms.body(large)).toBe(7);
  holder.letGo();
  await holder.result;
});

test('a thread that is ended while its heap is large gives its place back', async () => {
  const pool = pools.current.open({ largeHeaps: new LargeHeaps(1), limits: { cpuMs: 300 } });
  const uninterruptible = filling(60 * mebibyte, 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)');
  expect(await pool.failure(uninterruptible, { tenantId: 'neighbour' })).toMatchObject({ cause: { limit: 'cpuMs' } });
  expect(await pool.body(filling(40 * mebibyte))).toBe(7);
});
