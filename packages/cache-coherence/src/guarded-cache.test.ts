import { GuardedCache, type Loaded } from './index.ts';

const tenantId = 't1';
const entry = (value: string, tags = ['proxy:1'], of = tenantId): Loaded<{ value: string }> => ({
  tenantId: of,
  tags,
  value: { value },
});
const change = { tenantId, tags: ['proxy:1'] };

function newCache(isLive: () => boolean = () => true, maxAgeMs = 60_000) {
  return new GuardedCache<{ value: string }>({ maxEntries: 100, maxAgeMs, isLive });
}

/** A source whose state changes, and whose answers can be held back. */
function newSource(state = 'old') {
  const source = { state, loads: 0, gate: Promise.resolve() };
  const load = async () => {
    source.loads += 1;
    const read = entry(source.state);
    await source.gate;
    return read;
  };
  return { source, load };
}

test('a value is loaded once', async () => {
  const cache = newCache();
  const { source, load } = newSource();
  for (let i = 0; i < 3; i++) expect(await cache.get('k', load)).toEqual({ value: 'old' });
  expect(source.loads).toBe(1);
});

test('what is absent is not remembered', async () => {
  const cache = newCache();
  expect(await cache.get('k', async () => undefined)).toBeUndefined();
  expect(await cache.get('k', async () => entry('new'))).toEqual({ value: 'new' });
});

test('a load that failed is not remembered, and every waiter learns of it', async () => {
  const cache = newCache();
  const failing = async () => Promise.reject(new Error('away'));
  const waiters = await Promise.allSettled([cache.get('k', failing), cache.get('k', failing)]);
  expect(waiters.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await cache.get('k', async () => entry('new'))).toEqual({ value: 'new' });
});

test('reads of one key at the same time are one load', async () => {
  const cache = newCache();
  const { source, load } = newSource();
  await Promise.all(Array.from({ length: 50 }, () => cache.get('k', load)));
  expect(source.loads).toBe(1);
});

describe('a change drops what it concerns', () => {
  test.each([
    ['its tag', { tenantId, tags: ['proxy:1'] }, true],
    ['one of its tags', { tenantId, tags: ['application:9', 'proxy:1'] }, true],
    ['the whole Tenant', { tenantId, tags: ['tenant'] }, true],
    ['another tag', { tenantId, tags: ['proxy:2'] }, false],
    ['another Tenant with the same tag', { tenantId: 't2', tags: ['proxy:1'] }, false],
    ['the whole of another Tenant', { tenantId: 't2', tags: ['tenant'] }, false],
    ['nothing', { tenantId, tags: [] }, false],
  ])('%s', async (_name, announced, isDropped) => {
    const cache = newCache();
    const { source, load } = newSource();
    await cache.get('k', load);
    source.state = 'new';
    cache.invalidate(announced);
    expect(await cache.get('k', load)).toEqual({ value: isDropped ? 'new' : 'old' });
  });
});

/** Reads the old state, is overtaken by the change, and only then returns. */
async function readOvertakenByChange(cache: {
  get: GuardedCache<{ value: string }>['get'];
  invalidate: GuardedCache<{ value: string }>['invalidate'];
}) {
  const { source, load } = newSource();
  const gate = Promise.withResolvers<void>();
  source.gate = gate.promise;
  const overtaken = cache.get('k', load);
  source.state = 'new';
  cache.invalidate(change);
  gate.resolve();
  expect(await overtaken).toEqual({ value: 'old' });
  return cache.get('k', load);
}

describe('a read that a change overtakes', () => {
  test('is not installed: the next read sees the new state', async () => {
    expect(await readOvertakenByChange(newCache())).toEqual({ value: 'new' });
  });

  test('would be stale without the guard (negative control)', async () => {
    const entries = new Map<string, { value: string }>();
    const unguarded = {
      async get(key: string, load: () => Promise<Loaded<{ value: string }> | undefined>) {
        const known = entries.get(key);
        if (known) return known;
        const loaded = await load();
        if (loaded) entries.set(key, loaded.value);
        return loaded?.value;
      },
      invalidate: () => entries.clear(),
    };
    expect(await readOvertakenByChange(unguarded)).toEqual({ value: 'old' });
  });

  test('is not joined by a read that comes after the change', async () => {
    const cache = newCache();
    const { source, load } = newSource();
    const gate = Promise.withResolvers<void>();
    source.gate = gate.promise;
    const before = cache.get('k', load);
    source.state = 'new';
    cache.invalidate(change);
    const after = cache.get('k', load);
    gate.resolve();
    expect([await before, await after]).toEqual([{ value: 'old' }, { value: 'new' }]);
    expect(await cache.get('k', load)).toEqual({ value: 'new' });
    expect(source.loads).toBe(2);
  });

  test('does not displace what a later read installed', async () => {
    const cache = newCache();
    const gate = Promise.withResolvers<void>();
    const before = cache.get('k', () => gate.promise.then(() => entry('old')));
    cache.invalidate(change);
    await cache.get('k', async () => entry('new'));
    gate.resolve();
    await before;
    expect(await cache.get('k', async () => entry('newer'))).toEqual({ value: 'new' });
  });
});

test('clear() drops everything, reads under way included', async () => {
  const cache = newCache();
  const gate = Promise.withResolvers<void>();
  await cache.get('a', async () => entry('old'));
  const underWay = cache.get('b', () => gate.promise.then(() => entry('old')));
  cache.clear();
  gate.resolve();
  await underWay;
  for (const key of ['a', 'b']) expect(await cache.get(key, async () => entry('new'))).toEqual({ value: 'new' });
});

test('while it is not live every read loads and nothing is installed', async () => {
  let isLive = false;
  const cache = newCache(() => isLive);
  const { source, load } = newSource();
  await cache.get('k', load);
  await cache.get('k', load);
  expect(source.loads).toBe(2);
  isLive = true;
  await cache.get('k', load);
  expect(source.loads).toBe(3);
});

test('an entry is not served past its age', async () => {
  const cache = newCache(() => true, 30);
  const { source, load } = newSource();
  await cache.get('k', load);
  await new Promise((resolve) => setTimeout(resolve, 60));
  await cache.get('k', load);
  expect(source.loads).toBe(2);
});
