import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { GuardedCache, Loaded } from './guarded-cache.ts';
import { loaded, settableLease, testCache, testSource, type Value } from './testing/test-cache.ts';

type Readable = Pick<GuardedCache<Value>, 'get'>;

async function readOvertaken<C extends Readable>(cache: C, announce: (cache: C) => void): Promise<Value | undefined> {
  const source = testSource();
  const release = source.hold();
  const overtaken = cache.get('k', source.load);
  source.state = 'new';
  announce(cache);
  release();
  expect(await overtaken).toEqual({ value: 'old' });
  return cache.get('k', source.load);
}

const many = (count: number) => Array.from({ length: count }, (_, n) => `application:${n}`);

describe('a read that is overtaken', () => {
  test.each<[string, string, (cache: GuardedCache<Value>) => void]>([
    ['by a change to what it read is not kept', 'new', (cache) => cache.drop(['proxy:1'])],
    ['by a change to that and more is not kept', 'new', (cache) => cache.drop(['proxy:2', 'proxy:1'])],
    ['by a change to something else is kept', 'old', (cache) => cache.drop(['proxy:2'])],
    ['by the loss of the lease is not kept', 'new', (cache) => cache.clear()],
    ['by more tags than are noted is not kept', 'new', (cache) => cache.drop(many(10_001))],
    ['by more tags than one call can spread is not kept', 'new', (cache) => cache.drop(many(300_000))],
    [
      'by many changes is not kept, be its own among them or not',
      'new',
      (cache) => {
        for (const tag of many(10_001)) cache.drop([tag]);
      },
    ],
    ['by as many tags as are noted, all of something else, is kept', 'old', (cache) => cache.drop(many(10_000))],
  ])('%s', async (_name, expected, announce) => {
    expect(await readOvertaken(testCache(), announce)).toEqual({ value: expected });
  });

  test('would be stale without the guard (negative control)', async () => {
    const entries = new Map<string, Value>();
    const unguarded = {
      async get(key: string, load: () => Promise<Loaded<Value> | undefined>) {
        const known = entries.get(key);
        if (known) return known;
        const read = await load();
        if (read) entries.set(key, read.value);
        return read?.value;
      },
    };
    expect(await readOvertaken(unguarded, () => entries.clear())).toEqual({ value: 'old' });
  });

  test('is not joined by a read that comes after the change', async () => {
    const cache = testCache();
    const source = testSource();
    const release = source.hold();
    const before = cache.get('k', source.load);
    source.state = 'new';
    cache.drop(['proxy:1']);
    const after = cache.get('k', source.load);
    release();
    expect([await before, await after]).toEqual([{ value: 'old' }, { value: 'new' }]);
    expect(await cache.get('k', source.load)).toEqual({ value: 'new' });
    expect(source.loads).toBe(2);
  });

  test('does not displace what a later read kept, nor end its being joined', async () => {
    const cache = testCache();
    const first = testSource('old');
    const second = testSource('new');
    const [releaseFirst, releaseSecond] = [first.hold(), second.hold()];
    const before = cache.get('k', first.load);
    cache.drop(['proxy:1']);
    const after = cache.get('k', second.load);
    releaseFirst();
    await before;
    const joined = cache.get('k', second.load);
    releaseSecond();
    expect([await after, await joined]).toEqual([{ value: 'new' }, { value: 'new' }]);
    expect(second.loads).toBe(1);
    expect(await cache.get('k', second.load)).toEqual({ value: 'new' });
  });

  test('is not joined by a read that comes after the loss of the lease', async () => {
    const cache = testCache();
    const source = testSource();
    const release = source.hold();
    const before = cache.get('k', source.load);
    source.state = 'new';
    cache.clear();
    const after = cache.get('k', source.load);
    release();
    expect([await before, await after]).toEqual([{ value: 'old' }, { value: 'new' }]);
  });

  test('by a lease that ran out and was given anew, with nothing changed between, is kept', async () => {
    const lease = settableLease();
    const cache = testCache({}, lease);
    const source = testSource();
    const release = source.hold();
    const read = cache.get('k', source.load);
    lease.valid = false;
    release();
    await read;
    lease.valid = true;
    expect(await cache.get('k', source.load)).toEqual({ value: 'old' });
    expect(source.loads).toBe(1);
  });
});

test('what was noted for one read does not concern those that begin after it', async () => {
  const cache = testCache();
  const slow = testSource();
  const release = slow.hold();
  const underWay = cache.get('slow', slow.load);
  cache.drop(['proxy:1']);
  const source = testSource('new');
  await cache.get('k', source.load);
  cache.drop(many(10_001));
  await cache.get('l', source.load);
  release();
  await underWay;
  await cache.get('k', source.load);
  await cache.get('l', source.load);
  expect(source.loads).toBe(2);
});

describe('several keys at once', () => {
  test('are one load of what is missing, each once', async () => {
    const cache = testCache();
    const asked: (readonly string[])[] = [];
    const source = testSource();
    const load = (keys: readonly string[]) => {
      asked.push(keys);
      return source.loadMany(keys);
    };
    await cache.getMany(['a', 'b'], load);
    const found = await cache.getMany(['a', 'c', 'b', 'd'], load);
    expect(asked).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(Object.fromEntries(found)).toEqual({
      ...{ a: { value: 'old a' }, b: { value: 'old b' }, c: { value: 'old c' }, d: { value: 'old d' } },
    });
    await cache.getMany(['a', 'b', 'c', 'd'], load);
    expect(asked).toHaveLength(2);
  });

  test('join reads that are under way, by either way to read, and load the rest', async () => {
    const cache = testCache();
    const source = testSource();
    const release = source.hold();
    const one = cache.get('a', source.load);
    const some = cache.getMany(['b', 'c'], source.loadMany);
    const asked: (readonly string[])[] = [];
    const all = cache.getMany(['a', 'b', 'c', 'd'], (keys) => {
      asked.push(keys);
      return source.loadMany(keys);
    });
    const joinsMany = cache.get('c', source.load);
    release();
    expect([...(await all).keys()].sort()).toEqual(['a', 'b', 'c', 'd']);
    expect((await all).get('a')).toBe(await one);
    expect((await some).get('c')).toBe(await joinsMany);
    expect(asked).toEqual([['d']]);
  });

  test('do not join reads that a change has overtaken', async () => {
    const cache = testCache();
    const source = testSource();
    const release = source.hold();
    const before = cache.getMany(['a', 'b'], source.loadMany);
    source.state = 'new';
    cache.drop(['proxy:a']);
    const after = cache.getMany(['a', 'b'], source.loadMany);
    release();
    expect((await before).get('a')).toEqual({ value: 'old a' });
    expect((await after).get('a')).toEqual({ value: 'new a' });
    const later = await cache.getMany(['a', 'b'], source.loadMany);
    expect(later.get('a')).toEqual({ value: 'new a' });
  });

  test('leave out what does not exist, and take a key that is named twice once', async () => {
    const cache = testCache();
    const found = await cache.getMany(['a', 'gone', 'a'], async () => new Map([['a', loaded('a')]]));
    expect([...found]).toEqual([['a', { value: 'a' }]]);
    expect([...(await cache.getMany([], async () => new Map()))]).toEqual([]);
  });

  test('an error reaches all who wait, and is not remembered', async () => {
    const cache = testCache();
    const { promise, reject } = Promise.withResolvers<never>();
    const load = () => promise;
    const waiters = [cache.getMany(['a', 'b', 'c'], load), cache.getMany(['c', 'b'], load), cache.get('b', load)];
    reject(new Error('away'));
    const results = await Promise.allSettled(waiters);
    expect(results.map((result) => result.status === 'rejected' && result.reason.message)).toEqual(
      Array(3).fill('away'),
    );
    expect(await cache.get('b', async () => loaded('new'))).toEqual({ value: 'new' });
  });

  // In its own process, because jest does not let a test see unhandled rejections. Node ends with status 1.
  test('an error of keys that nobody waits for any more is handled', async () => {
    const program = `
      import { GuardedCache } from '${new URL('guarded-cache.ts', import.meta.url)}';
      const lease = { isValid: () => true, mayHaveCome: () => false };
      const cache = new GuardedCache(lease, { maxEntries: 10, maxBytes: 10000 });
      const away = () => Promise.reject(new Error('away'));
      await cache.getMany(['a', 'b', 'c'], away).catch((error) => console.log(error.message));
      await new Promise((resolve) => setTimeout(resolve, 10));
      console.log('lives');`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
    expect(stdout).toBe('away\nlives\n');
  });
});
