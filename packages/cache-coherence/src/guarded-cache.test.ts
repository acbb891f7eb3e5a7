import { absent } from './change.ts';
import { loaded, settableLease, testCache, testSource, type Value } from './testing/test-cache.ts';

const nothing = async () => undefined;
const neverLoaded = async () => {
  throw new Error('loaded again');
};

test('a value is loaded once', async () => {
  const cache = testCache();
  const source = testSource();
  for (let i = 0; i < 3; i++) expect(await cache.get('k', source.load)).toEqual({ value: 'old' });
  expect(source.loads).toBe(1);
  expect(cache.counts).toEqual({ hits: 2, misses: 1, dropped: 0 });
});

test('reads of one key at the same time are one load', async () => {
  const cache = testCache();
  const source = testSource();
  const values = await Promise.all(Array.from({ length: 50 }, () => cache.get('k', source.load)));
  expect(source.loads).toBe(1);
  expect(new Set(values).size).toBe(1);
});

test('a load that failed is not remembered, and everyone who waited learns of it', async () => {
  const cache = testCache();
  const failing = async () => Promise.reject(new Error('away'));
  const waiters = await Promise.allSettled([cache.get('k', failing), cache.get('k', failing)]);
  expect(waiters.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await cache.get('k', async () => loaded('new'))).toEqual({ value: 'new' });
});

test('a load that throws before it returns a promise fails its read only', async () => {
  const cache = testCache();
  const throwing = () => {
    throw new Error('at once');
  };
  await expect(cache.get('a', throwing)).rejects.toThrow('at once');
  await expect(cache.getMany(['a'], throwing)).rejects.toThrow('at once');
  expect(await cache.get('a', async () => loaded('new'))).toEqual({ value: 'new' });
  expect(await cache.get('a', neverLoaded)).toEqual({ value: 'new' });
});

describe('what does not exist', () => {
  test('is looked for again where that is not asked for', async () => {
    const cache = testCache();
    expect(await cache.get('k', nothing)).toBeUndefined();
    expect(await cache.get('k', async () => loaded('new'))).toEqual({ value: 'new' });
  });

  test('is remembered where that is asked for, by both ways to read', async () => {
    const cache = testCache({ remembersAbsent: true });
    await cache.get('k', nothing);
    await cache.getMany(['l'], async () => new Map());
    for (const key of ['k', 'l']) {
      expect(await cache.get(key, neverLoaded)).toBeUndefined();
      expect(await cache.getMany([key], neverLoaded)).toEqual(new Map());
    }
    expect(cache.counts).toEqual({ hits: 4, misses: 2, dropped: 0 });
    expect(cache.entries).toBe(0);
  });

  test.each([
    ['another Tenant brought something into being', ['application:of-another-tenant', absent]],
    ['only that was named', [absent]],
  ])('is forgotten when %s', async (_name, tags) => {
    const cache = testCache({ remembersAbsent: true });
    await cache.get('k', nothing);
    cache.drop(tags);
    expect(await cache.get('k', async () => loaded('new'))).toEqual({ value: 'new' });
  });

  test('is still known when something else changes', async () => {
    const cache = testCache({ remembersAbsent: true });
    await cache.get('k', nothing);
    cache.drop(['application:1']);
    expect(await cache.get('k', neverLoaded)).toBeUndefined();
  });

  test('is not remembered by a read that a creation overtook', async () => {
    const cache = testCache({ remembersAbsent: true });
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = cache.get('k', () => promise.then(() => undefined));
    cache.drop([absent]);
    resolve();
    expect(await before).toBeUndefined();
    expect(await cache.get('k', async () => loaded('new'))).toEqual({ value: 'new' });
  });
});

describe('a change drops', () => {
  test.each([
    ['what has its tag', ['proxy:1'], true],
    ['what has one of its tags', ['application:9', 'proxy:1'], true],
    ['everything of a Tenant', ['tenant:1'], true],
    ['nothing that has other tags', ['proxy:2', 'tenant:2', absent], false],
    ['nothing where it names nothing', [], false],
  ])('%s', async (_name, tags, isDropped) => {
    const cache = testCache();
    await cache.get('k', async () => loaded('old', ['proxy:1', 'tenant:1']));
    cache.drop(tags);
    expect(await cache.get('k', async () => loaded('new'))).toEqual({ value: isDropped ? 'new' : 'old' });
    expect(cache.counts.dropped).toBe(isDropped ? 1 : 0);
  });

  test('all entries that have its tag, and only those', async () => {
    const cache = testCache();
    for (let n = 0; n < 10; n++) await cache.get(`k${n}`, async () => loaded('old', [`proxy:${n}`, `tenant:${n % 2}`]));
    cache.drop(['tenant:0']);
    expect(cache.entries).toBe(5);
    expect(await cache.get('k3', neverLoaded)).toEqual({ value: 'old' });
    expect(await cache.get('k4', async () => loaded('new'))).toEqual({ value: 'new' });
  });
});

describe('what expires', () => {
  const expiresAt = new Date(1000).toISOString();

  test('is served until the moment may have come; from then on Postgres decides', async () => {
    const lease = settableLease();
    const cache = testCache({}, lease);
    const entry = async () => ({ ...loaded('old'), expiresAt });
    await cache.get('k', entry);
    lease.nowMs = 999;
    expect(await cache.get('k', neverLoaded)).toEqual({ value: 'old' });
    lease.nowMs = 1000;
    expect(await cache.get('k', entry)).toEqual({ value: 'old' });
    expect(await cache.getMany(['k'], async () => new Map())).toEqual(new Map());
    expect(await cache.get('k', nothing)).toBeUndefined();
  });

  test.each([null, undefined])('never does so where the moment is %s', async (never) => {
    const lease = settableLease();
    const cache = testCache({}, lease);
    await cache.get('k', async () => ({ ...loaded('old'), ...(never === null && { expiresAt: never }) }));
    lease.nowMs = Number.POSITIVE_INFINITY;
    expect(await cache.get('k', neverLoaded)).toEqual({ value: 'old' });
  });
});

test('while the lease is not valid nothing is served, joined or kept', async () => {
  const lease = settableLease();
  const cache = testCache({ remembersAbsent: true }, lease);
  await cache.get('k', async () => loaded('old'));
  lease.valid = false;
  const source = testSource('new');
  expect(await Promise.all([cache.get('k', source.load), cache.get('k', source.load)])).toMatchObject(
    Array(2).fill({ value: 'new' }),
  );
  expect(await cache.getMany(['k', 'l'], source.loadMany)).toEqual(
    new Map([
      ['k', { value: 'new k' }],
      ['l', { value: 'new l' }],
    ]),
  );
  expect(source.loads).toBe(3);
  await cache.get('m', nothing);
  expect(cache.entries).toBe(1);
  lease.valid = true;
  expect(await cache.get('m', async () => loaded('new'))).toEqual({ value: 'new' });
  expect(cache.counts).toEqual({ hits: 0, misses: 7, dropped: 0 });
});

describe('the bounds', () => {
  test('of entries: what was used longest ago goes', async () => {
    const cache = testCache({ maxEntries: 3 });
    for (const key of ['a', 'b', 'c']) await cache.get(key, async () => loaded(key));
    await cache.get('a', neverLoaded);
    await cache.get('d', async () => loaded('d'));
    expect(cache.entries).toBe(3);
    expect(await cache.get('a', neverLoaded)).toEqual({ value: 'a' });
    expect(await cache.get('b', nothing)).toBeUndefined();
  });

  test('of bytes: many small entries, or few large ones', async () => {
    const cache = testCache({ maxBytes: 10_000 });
    for (let n = 0; n < 50; n++) await cache.get(`k${n}`, async () => ({ ...loaded('v'), sizeBytes: 1500 }));
    expect(cache.entries).toBe(5);
    expect(cache.sizeBytes).toBeLessThanOrEqual(10_000);
  });

  test('an entry larger than the whole cache is handed on, displaces nothing and takes the place of nothing', async () => {
    const cache = testCache({ maxBytes: 10_000 });
    await cache.get('small', async () => loaded('small'));
    const huge = async () => ({ ...loaded('huge'), sizeBytes: 10_000 });
    expect(await cache.get('huge', huge)).toEqual({ value: 'huge' });
    expect(await cache.get('huge', async () => loaded('read again'))).toEqual({ value: 'read again' });
    expect(await cache.get('small', neverLoaded)).toEqual({ value: 'small' });
  });

  test('of what is absent: junk does not grow it beyond ten thousand keys', async () => {
    const cache = testCache({ remembersAbsent: true });
    for (let n = 0; n < 10_001; n++) await cache.get(`junk ${n}`, nothing);
    expect(await cache.get('junk 10000', neverLoaded)).toBeUndefined();
    expect(await cache.get('junk 0', async () => loaded('looked for again'))).toEqual({ value: 'looked for again' });
  });

  test('nothing is left of entries that are gone: dropped, displaced, replaced, forgotten, or cleared', async () => {
    const lease = settableLease();
    const cache = testCache({ maxEntries: 5, maxBytes: 5000 }, lease);
    const install = (key: string, more = {}) =>
      cache.get(key, async () => ({ ...loaded(key, [`proxy:${key}`, 'tenant:1', 'tenant:1']), ...more }));
    for (let n = 0; n < 20; n++) await install(`k${n}`);
    expect(cache.tags).toBe(6);
    await install('large', { sizeBytes: 2000 });
    expect(cache.tags).toBe(cache.entries + 1);
    await install('due', { expiresAt: new Date(0).toISOString() });
    await cache.get('due', async () => loaded('replaced', ['proxy:other']));
    expect(cache.tags).toBe(cache.entries + 1);
    cache.drop(['proxy:due']);
    expect(await cache.get('due', neverLoaded)).toEqual({ value: 'replaced' });
    cache.drop(['tenant:1']);
    expect({ entries: cache.entries, tags: cache.tags }).toEqual({ entries: 1, tags: 1 });
    cache.forget('due', { value: 'replaced' });
    expect(cache.entries).toBe(1);
    cache.forget('due', (await cache.get('due', neverLoaded)) as Value);
    expect({ entries: cache.entries, tags: cache.tags, bytes: cache.sizeBytes }).toEqual({
      ...{ entries: 0, tags: 0, bytes: 0 },
    });
    await install('k');
    cache.clear();
    expect({ entries: cache.entries, tags: cache.tags }).toEqual({ entries: 0, tags: 0 });
  });
});

describe('a read that began before the expiry', () => {
  const expiresAt = new Date(1000).toISOString();

  function readTwice(read: (cache: ReturnType<typeof testCache>, load: () => Promise<string | undefined>) => unknown) {
    const lease = settableLease();
    const cache = testCache({}, lease);
    const answer = Promise.withResolvers<string | undefined>();
    const first = read(cache, () => answer.promise);
    lease.nowMs = 1016;
    const second = read(cache, async () => undefined);
    answer.resolve('valid');
    return Promise.all([first, second]);
  }
  const found = (text: string | undefined) => (text === undefined ? undefined : { ...loaded(text), expiresAt });

  test('is no answer for who asks after it: who joins it reads again', async () => {
    const read = (cache: ReturnType<typeof testCache>, load: () => Promise<string | undefined>) =>
      cache.get('k', async () => found(await load()));
    expect(await readTwice(read)).toEqual([{ value: 'valid' }, undefined]);
  });

  test('nor where several are read', async () => {
    const read = (cache: ReturnType<typeof testCache>, load: () => Promise<string | undefined>) =>
      cache.getMany(['k'], async () => {
        const one = found(await load());
        return new Map(one ? [['k', one]] : []);
      });
    expect(await readTwice(read)).toEqual([new Map([['k', { value: 'valid' }]]), new Map()]);
  });
});
