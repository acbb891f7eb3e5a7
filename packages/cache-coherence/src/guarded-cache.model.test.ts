import { slow } from '@sluice/testing';
import fc from 'fast-check';
import { absent } from './change.ts';
import type { GuardedCache, Loaded } from './guarded-cache.ts';
import { loaded, type SetLease, settableLease, testCache, type Value } from './testing/test-cache.ts';

/**
 * Random interleavings: once a change has been dropped, no read that begins after it may return what was there before.
 * Changes while the lease is invalid are not heard; then the lease is lost before there is another.
 */

const keys = ['a', 'b', 'c', 'd'] as const;
const groups = ['even', 'odd'] as const;
type Key = (typeof keys)[number];

const keyArbitrary = fc.constantFrom(...keys);
const commandArbitrary = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('get' as const), key: keyArbitrary }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('getMany' as const), keys: fc.subarray([...keys]) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('change' as const), key: keyArbitrary, byGroup: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), key: keyArbitrary }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('query' as const, 'answer' as const), nth: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pause' as const), key: keyArbitrary }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('lease' as const),
      happens: fc.constantFrom('out', 'lost', 'new', 'new' as const),
    }),
  },
);
type Command = typeof commandArbitrary extends fc.Arbitrary<infer C> ? C : never;

class World {
  readonly versions = new Map<Key, number>();
  readonly changes = new Map<Key, number>(keys.map((key) => [key, 0]));
  readonly unsent: (() => void)[] = [];
  readonly unanswered: (() => void)[] = [];
  readonly lease: SetLease = settableLease();
  hasMissed = false;
  readonly cache: GuardedCache<Value>;
  readonly reads: Promise<void>[] = [];

  constructor(wrap: (cache: GuardedCache<Value>) => GuardedCache<Value> = (cache) => cache) {
    this.cache = wrap(testCache({ maxEntries: 3, maxBytes: 1900, remembersAbsent: true }, this.lease));
  }

  /** Reads the table when `query` comes to it, and returns when `answer` does. */
  async load(asked: readonly Key[]): Promise<Map<string, Loaded<Value>>> {
    await new Promise<void>((resolve) => this.unsent.push(resolve));
    const rows = new Map<string, Loaded<Value>>();
    for (const key of asked) {
      const version = this.versions.get(key);
      if (version !== undefined) rows.set(key, loaded(String(version), [key, groupOf(key)]));
    }
    await new Promise<void>((resolve) => this.unanswered.push(resolve));
    return rows;
  }

  /** This read may return nothing older than what the table holds now. */
  read(asked: readonly Key[], find: () => Promise<(Value | undefined)[]>): void {
    const oldest = asked.map((key) => this.changes.get(key) ?? 0);
    const history = asked.map((key) => this.history.get(key) ?? []);
    this.reads.push(
      find().then((values) => {
        for (const [index, value] of values.entries()) {
          const since = history[index]?.slice(oldest[index]) ?? [];
          if (!since.includes(value?.value)) throw new Error(`${asked[index]} was ${value?.value}, not ${since}`);
        }
      }),
    );
  }

  /** The state of each key after every change. The arrays grow while reads are under way. */
  readonly history = new Map<Key, (string | undefined)[]>(keys.map((key) => [key, [undefined]]));

  write(key: Key, exists: boolean, tags: readonly string[]): void {
    const existed = this.versions.has(key);
    const changes = (this.changes.get(key) ?? 0) + 1;
    this.changes.set(key, changes);
    if (!exists) this.versions.delete(key);
    else this.versions.set(key, changes);
    this.history.get(key)?.push(exists ? String(changes) : undefined);
    if (this.lease.valid) this.cache.drop(existed ? tags : [...tags, absent]);
    else this.hasMissed = true;
  }
}

const groupOf = (key: Key) => groups[keys.indexOf(key) % 2] as string;

function perform(command: Command, world: World): void {
  const { cache, lease } = world;
  switch (command.do) {
    case 'get': {
      const { key } = command;
      world.read([key], async () => [await cache.get(key, async () => (await world.load([key])).get(key))]);
      break;
    }
    case 'getMany':
      world.read(command.keys, async () => {
        const found = await cache.getMany(command.keys, (missing) => world.load(missing as Key[]));
        return command.keys.map((key) => found.get(key));
      });
      break;
    case 'change':
      world.write(command.key, true, [command.byGroup ? groupOf(command.key) : command.key]);
      break;
    case 'remove':
      world.write(command.key, false, [command.key]);
      break;
    case 'query':
    case 'answer': {
      const waiting = command.do === 'query' ? world.unsent : world.unanswered;
      waiting.splice(command.nth % (waiting.length || 1), 1)[0]?.();
      break;
    }
    case 'pause': // the process stops, a change is confirmed without it, it registers anew
      perform({ do: 'lease', happens: 'out' }, world);
      perform({ do: 'change', key: command.key, byGroup: false }, world);
      perform({ do: 'lease', happens: 'new' }, world);
      break;
    case 'lease':
      lease.valid = command.happens === 'new';
      if (command.happens === 'lost' || (lease.valid && world.hasMissed)) cache.clear();
      if (lease.valid) world.hasMissed = false;
  }
}

async function run(commands: readonly Command[], world: World): Promise<void> {
  for (const command of commands) {
    perform(command, world);
    for (let turn = 0; turn < 8; turn++) await Promise.resolve();
  }
  while (world.unsent.length + world.unanswered.length > 0) {
    for (const proceed of [...world.unsent.splice(0), ...world.unanswered.splice(0)]) proceed();
    for (let turn = 0; turn < 8; turn++) await Promise.resolve();
  }
  await Promise.all(world.reads);
  expect(world.cache.entries).toBeLessThanOrEqual(3);
  expect(world.cache.sizeBytes).toBeLessThanOrEqual(1900);
  for (const tag of [...keys, ...groups]) world.cache.drop([tag]);
  expect({ entries: world.cache.entries, tags: world.cache.tags }).toEqual({ entries: 0, tags: 0 });
}

const commandsArbitrary = fc.array(commandArbitrary, { minLength: 5, maxLength: 60 });

slow('1 s')('no read returns what was there before a change that was dropped before the read began', async () => {
  await fc.assert(
    fc.asyncProperty(commandsArbitrary, (commands) => run(commands, new World())),
    { numRuns: 400 },
  );
});

test('the model itself would find a cache that hears of every other change', async () => {
  let n = 0;
  const forgetful = (cache: GuardedCache<Value>) => {
    const drop = cache.drop.bind(cache);
    cache.drop = (tags) => (tags.length === 1 && n++ % 2 === 0 ? undefined : drop(tags));
    return cache;
  };
  const property = fc.asyncProperty(commandsArbitrary, (commands) => run(commands, new World(forgetful)));
  expect((await fc.check(property, { numRuns: 400, endOnFailure: true })).failed).toBe(true);
});
