import { eventually, openTestDatabase, slow, useStack } from '@sluice/testing';
import { changesChannel } from './announcement.ts';
import type { Bus } from './bus.ts';
import { localBus, openHolder, recordingLog, tag } from './testing/test-processes.ts';

const database = useStack(openTestDatabase);

beforeEach(() => database.current.db.deleteFrom('cache_leases').execute());

async function openListening(stack: AsyncDisposableStack, databaseUrl = database.current.url) {
  let hear: (text: string) => void = () => {};
  const published: [string, object][] = [];
  const bus: Bus = {
    publish: (channel, message) => void published.push([channel, message]),
    subscribe: (channel, handle) => {
      if (channel === changesChannel) hear = handle;
    },
  };
  const { log, lines } = recordingLog();
  const holder = await openHolder(database.current, stack, { bus, log, databaseUrl });
  return { ...holder, hear: (text: string) => hear(text), published, lines };
}

test('what is announced is dropped, and then acknowledged to the writer alone', async () => {
  await using stack = new AsyncDisposableStack();
  const { read, hear, published, caches } = await openListening(stack);
  await read('old');
  hear(JSON.stringify({ id: 'c1', tags: [tag], writerId: 'w1' }));
  expect(published).toEqual([['{sluice}:acknowledgements:w1', { changeId: 'c1', holderId: caches.holderId() }]]);
  expect(await read('new')).toBe('new');
  hear(JSON.stringify({ id: 'c2', tags: ['proxy:other'], writerId: 'w2' }));
  expect(published).toHaveLength(2);
  expect(await read('newer')).toBe('new');
});

test('without a lease nothing is acknowledged: its row is not there, or not yet known', async () => {
  await using stack = new AsyncDisposableStack();
  const { hear, published, read } = await openListening(stack, 'postgres://127.0.0.1:1/nowhere');
  hear(JSON.stringify({ id: 'c1', tags: [tag], writerId: 'w1' }));
  expect(published).toEqual([]);
  expect(await read('a')).toBe('a');
  expect(await read('b')).toBe('b');
});

const unreadable = [
  'no JSON',
  '',
  'null',
  '5',
  '[]',
  '{}',
  `{"id":"c","tags":["${tag}"]}`,
  '{"id":1,"tags":[],"writerId":"w"}',
  '{"id":"c","tags":"x","writerId":"w"}',
  '{"id":"c","tags":[{"toString":1}],"writerId":"w"}',
  '{"id":"c","tags":[null],"writerId":"w"}',
  '['.repeat(100_000),
].map((text) => [text.slice(0, 60), text] as const);

test.each(unreadable)(
  'an announcement that is not readable, %s, empties the caches and ends nothing',
  async (_name, text) => {
    await using stack = new AsyncDisposableStack();
    const { read, hear, published, cache, lines } = await openListening(stack);
    await read('old');
    hear(text);
    expect({ entries: cache.entries, published }).toEqual({ entries: 0, published: [] });
    expect(lines().filter(({ level }) => level === 'warn')).toHaveLength(1);
    expect(await read('new')).toBe('new');
    expect(await read('newer')).toBe('new');
  },
);

slow('0.6 s')('an announcement of very many tags is handled', async () => {
  await using stack = new AsyncDisposableStack();
  const { read, hear, published } = await openListening(stack);
  await read('old');
  const tags = [...Array.from({ length: 200_000 }, (_, n) => `token:${n}`), tag];
  hear(JSON.stringify({ id: 'c', tags, writerId: 'w' }));
  expect(published).toHaveLength(1);
  expect(await read('new')).toBe('new');
});

test('two caches of one name are refused: of one of them nothing would be dropped', async () => {
  await using stack = new AsyncDisposableStack();
  const { caches } = await openListening(stack);
  expect(() => caches.open('values', { maxEntries: 1, maxBytes: 1000 })).toThrow('"values" is open already');
});

test('caches that are opened later are dropped from as well, each by what it holds', async () => {
  await using stack = new AsyncDisposableStack();
  const { caches, hear, read, cache } = await openListening(stack);
  const second = caches.open<{ value: string }>('others', { maxEntries: 10, maxBytes: 10_000 });
  await read('old');
  await second.get('k', async () => ({ value: { value: 'old' }, tags: [tag, 'tenant:1'], sizeBytes: 10 }));
  hear(JSON.stringify({ id: 'c', tags: ['tenant:1'], writerId: 'w' }));
  expect([cache.entries, second.entries]).toEqual([1, 0]);
  caches.drop([tag]);
  expect(cache.entries).toBe(0);
});

test('once the process has stopped its row is gone, and its caches serve nothing', async () => {
  await using stack = new AsyncDisposableStack();
  const holder = await openHolder(database.current, stack, { bus: localBus() });
  await holder.read('old');
  await holder.stop();
  expect(await holder.read('new')).toBe('new');
  await eventually('gone', async () => {
    return (await database.current.db.selectFrom('cache_leases').selectAll().execute()).length === 0;
  });
});

describe('the number of invalidations', () => {
  test('is raised before anybody is told: by announcements, unreadable ones, and drops of the process itself', async () => {
    await using stack = new AsyncDisposableStack();
    const { caches, hear, published } = await openListening(stack);
    const seen = [caches.invalidations()];
    caches.watch([tag], () => seen.push(caches.invalidations()));
    hear(JSON.stringify({ id: 'c', tags: [tag], writerId: 'w' }));
    hear('unreadable');
    caches.drop([tag]);
    const [first = Number.NaN] = seen;
    expect([seen, published.length]).toEqual([[first, first + 1, first + 2, first + 3], 1]);
  });

  test('equals nothing without a lease, and is another once a lost lease is held again', async () => {
    await using stack = new AsyncDisposableStack();
    const { caches } = await openListening(stack);
    const before = caches.invalidations();
    expect(caches.invalidations()).toBe(before);
    await database.current.db.deleteFrom('cache_leases').execute();
    const former = caches.holderId();
    await eventually('another lease', () => caches.holderId() !== undefined && caches.holderId() !== former);
    expect(caches.invalidations()).toBeGreaterThan(before);

    const { caches: without } = await openListening(stack, 'postgres://127.0.0.1:1/nowhere');
    expect(without.invalidations()).toBeNaN();
  });
});
