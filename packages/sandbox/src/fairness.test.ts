import { readdirSync, readFileSync } from 'node:fs';
import { slow } from '@sluice/testing';
import { openTestPool } from './testing/test-pool.ts';

const waiting = 'module.exports = async (req) => ({ body: await req.svc.tokenize(1) })';
const good = 'module.exports = () => ({ body: 1 })';

/** Runs once what is to run in these tests: a Tenant's code that has not run yet is in doubt. */
async function makeKnown(pool: ReturnType<typeof openTestPool>, ...tenants: string[]): Promise<void> {
  for (const tenantId of tenants) {
    for (const code of [waiting, good]) await pool.run(code, { tenantId, ownerId: 'known', host: async () => '1' });
  }
}

/** A host whose calls stay open until they are released; counts how many are open at a time. */
function heldHost() {
  const open = new Set<() => void>();
  const seen = { most: 0 };
  const host = () =>
    new Promise<string>((resolve) => {
      open.add(() => resolve('1'));
      seen.most = Math.max(seen.most, open.size);
    });
  const release = () => {
    for (const finish of open) finish();
    open.clear();
  };
  return { host, release, open, seen };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

slow('0.5 s').each([
  [2, 1],
  [3, 2],
  [1, 1],
])(
  'of %i threads one Tenant holds %i; another is answered meanwhile, where there is a second',
  async (threads, share) => {
    const pool = openTestPool({ threads, queueLimit: 100 });
    await pool.ready();
    await makeKnown(pool, 'flood', 'other');
    const { host, release, open, seen } = heldHost();
    const flood = Array.from({ length: 12 }, (_, index) =>
      pool.run(waiting, { tenantId: 'flood', ownerId: `${index}`, host }),
    );
    await until(() => open.size === share);
    if (threads > 1) {
      for (let i = 0; i < 5; i += 1) expect(await pool.body(good, { tenantId: 'other' })).toBe(1);
      expect(seen.most).toBe(share);
    }
    const releasing = setInterval(release, 5);
    await Promise.all(flood);
    clearInterval(releasing);
    expect(seen.most).toBe(share);
    await pool.close();
  },
);

slow('0.5 s')(
  'a flood fills its own part of the queue only: who has little waiting is not refused for it',
  async () => {
    const pool = openTestPool({ threads: 2, queueLimit: 10 });
    await pool.ready();
    await makeKnown(pool, 'flood', 'small');
    const held = heldHost();
    const settle = (tenantId: string, count: number) =>
      Array.from({ length: count }, (_, index) =>
        pool.run(waiting, { tenantId, ownerId: `${index}`, host: held.host }).then(
          () => 'answered',
          (error) => error.code,
        ),
      );
    const flood = settle('flood', 30);
    const small = settle('small', 4);
    const releasing = setInterval(held.release, 5);
    expect(await Promise.all(small)).toEqual(Array(4).fill('answered'));
    const ends = await Promise.all(flood);
    clearInterval(releasing);
    expect(ends.filter((end) => end === 'unavailable').length).toBeGreaterThanOrEqual(19);
    expect(ends.filter((end) => end === 'answered').length).toBeGreaterThanOrEqual(5);
    await pool.close();
  },
);

slow('0.8 s')('two Tenants that both want all share the threads alike', async () => {
  const pool = openTestPool({ threads: 4, queueLimit: 100 });
  await pool.ready();
  await makeKnown(pool, '0', '1');
  const [left, right] = [heldHost(), heldHost()];
  const runs = [left, right].flatMap(({ host }, tenant) =>
    Array.from({ length: 8 }, (_, index) => pool.run(waiting, { tenantId: `${tenant}`, ownerId: `${index}`, host })),
  );
  await until(() => left.open.size + right.open.size === 4);
  const releasing = setInterval(
    () =>
      [left, right].forEach(({ release }) => {
        release();
      }),
    5,
  );
  await until(() => right.seen.most > 0);
  await Promise.all(runs);
  clearInterval(releasing);
  expect([left.seen.most, right.seen.most].every((most) => most <= 3)).toBe(true);
  await pool.close();
});

slow('0.6 s')('code that has not run yet holds all threads but one, however many Tenants it is of', async () => {
  const pool = openTestPool({ threads: 3, queueLimit: 100 });
  await pool.ready();
  await makeKnown(pool, 'other');
  const { host, release, open, seen } = heldHost();
  const runs = Array.from({ length: 12 }, (_, index) =>
    pool.run(waiting, { tenantId: `new ${index % 4}`, ownerId: `${index}`, host }),
  );
  await until(() => open.size === 2);
  for (let i = 0; i < 5; i += 1) expect(await pool.body(good, { tenantId: 'other' })).toBe(1);
  expect(seen.most).toBe(2);
  const releasing = setInterval(release, 5);
  await Promise.all(runs);
  clearInterval(releasing);
  await pool.close();
});

/** The threads of this process with this niceness, as Linux tells it; its fields come after the thread's name. */
function threadsOf(niceness: number): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/task').filter((id) => {
    const fields = readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ').at(-1)?.split(' ');
    return Number(fields?.[16]) === niceness;
  });
}

const threadsThatGiveWay = () => threadsOf(10);

test('quick threads come after the main thread, which keeps its priority', async () => {
  const before = threadsOf(5);
  const pool = openTestPool({ threads: 3 });
  await pool.ready();
  const added = threadsOf(5).filter((id) => !before.includes(id));
  expect(added).toHaveLength(process.platform === 'linux' ? 3 : 0);
  expect(threadsOf(5)).not.toContain(String(process.pid));
  await pool.close();
});

slow('0.7 s')(
  'a Tenant whose transform was killed has a thread of its own kind, which gives way, for all of its code',
  async () => {
    const pool = openTestPool({ threads: 2, limits: { cpuMs: 100 }, queueLimit: 100 });
    await pool.ready();
    await makeKnown(pool, 'killed', 'other');
    const before = threadsThatGiveWay();
    expect(pool.state().threads).toBe(2);
    await pool.failure('module.exports = () => { for (;;) {} }', { tenantId: 'killed' });
    const { host, release, open, seen } = heldHost();
    const runs = Array.from({ length: 6 }, (_, index) =>
      pool.run(waiting, { tenantId: 'killed', ownerId: `${index}`, host }),
    );
    await until(() => open.size === 1);
    expect(pool.state().threads).toBe(3);
    const added = threadsThatGiveWay().filter((id) => !before.includes(id));
    expect(added).toHaveLength(process.platform === 'linux' ? 1 : 0);
    const others = ['other', 'new'].map((tenantId) => pool.body(good, { tenantId }));
    expect(await Promise.all(others)).toEqual([1, 1]);
    const releasing = setInterval(release, 5);
    await Promise.all(runs);
    clearInterval(releasing);
    expect(seen.most).toBe(1);
    await pool.close();
  },
);

describe('a run that turns out to be slow', () => {
  // New code is slow after 50 ms of CPU time, known code after a quarter of the limit. The loop takes some 500 ms.
  const limits = { cpuMs: 12_000 };
  const forAWhile = 'for (let i = 0; i < 2e7; i += 1);';

  slow('1.2 s')('is begun again in a thread that gives way; what came of it before is forgotten', async () => {
    const pool = openTestPool({ threads: 2, limits });
    await pool.ready();
    const before = threadsThatGiveWay();
    const code = `module.exports = () => { console.log('begun'); ${forAWhile} return { body: 1 } }`;
    expect(await pool.body(code)).toBe(1);
    expect(pool.printed).toEqual([{ level: 'info', text: 'begun' }]);
    expect(pool.state()).toMatchObject({ threads: 3, runs: 1, stops: {} });
    expect(threadsThatGiveWay()).toHaveLength(before.length + (process.platform === 'linux' ? 1 : 0));
    await pool.close();
  });

  slow('2.2 s')(
    'with new code, soon: other code of its Tenant does not wait for that, nor does it once it is known',
    async () => {
      const pool = openTestPool({ threads: 2, limits });
      await pool.ready();
      await makeKnown(pool, 'tenant');
      const { host, release, open } = heldHost();
      /** The thread that gives way: the others run its code no more. */
      const hold = async () => {
        const held = pool.run(waiting, { tenantId: 'killed', host });
        await until(() => open.size === 1);
        return async () => {
          release();
          await held;
        };
      };
      await pool.failure('module.exports = () => { for (const all = []; ; ) all.push(new Uint8Array(2 ** 20)) }', {
        tenantId: 'killed',
      });
      const code = `module.exports = () => { ${forAWhile} return { body: 2 } }`;

      const endHold = await hold();
      const first = pool.body(code);
      await until(() => pool.state().running === 2);
      await until(() => pool.state().running === 1);
      expect(await pool.body(good)).toBe(1);
      expect(pool.state()).toMatchObject({ running: 1, waiting: 1 });
      await endHold();
      expect(await first).toBe(2);
      const endSecondHold = await hold();
      expect(await pool.body(code)).toBe(2);
      await endSecondHold();
      await pool.close();
    },
  );

  slow('1 s')('goes on where it is once it has called the client', async () => {
    const pool = openTestPool({ threads: 2, limits });
    await pool.ready();
    const called: string[] = [];
    const host = async (operation: string) => {
      called.push(operation);
      return '1';
    };
    const code = `module.exports = async (req) => { await req.svc.tokenize(1); ${forAWhile} return { body: 1 } }`;
    expect(await pool.body(code, { host })).toBe(1);
    expect(called).toHaveLength(1);
    expect(pool.state().threads).toBe(2);
    await pool.close();
  });

  slow('0.4 s')('keeps its answer where only what follows it is slow', async () => {
    const pool = openTestPool({ threads: 2, limits });
    await pool.ready();
    const afterwards = 'Promise.resolve().then(() => {}).then(() => {}).then(() => { for (;;) {} })';
    expect(await pool.body(`module.exports = () => { ${afterwards}; return { body: 1 } }`)).toBe(1);
    expect(pool.state().threads).toBe(2);
    expect(pool.state().cpuMs).toBeLessThan(limits.cpuMs / 4); // the rest of it is ended as early as a new run
    expect(await pool.body(good)).toBe(1);
    expect(pool.state().threads).toBe(3); // and new code of its Tenant gives way
    await pool.close();
  });

  slow('0.5 s')('is stopped by the whole limit there', async () => {
    const pool = openTestPool({ threads: 2, limits: { cpuMs: 100 } });
    await pool.ready();
    const error = await pool.failure('module.exports = () => { for (;;) {} }');
    expect(error).toMatchObject({ cause: { limit: 'cpuMs' } });
    expect(pool.state()).toMatchObject({ threads: 3, runs: 1, stops: { cpuMs: 1 } });
    await pool.close();
  });
});

slow('0.4 s')(
  'what waits while its Tenant turns out to be slow moves to the other threads, and is answered',
  async () => {
    const pool = openTestPool({ threads: 1, limits: { cpuMs: 100 }, queueLimit: 100 });
    await pool.ready();
    const loop = pool.failure('module.exports = () => { for (;;) {} }', { tenantId: 'killed' });
    const waits = Array.from({ length: 3 }, () => pool.body(good, { tenantId: 'killed' }));
    expect(await loop).toMatchObject({ cause: { limit: 'cpuMs' } });
    expect(await Promise.all(waits)).toEqual([1, 1, 1]);
    expect(pool.state()).toMatchObject({ threads: 2, running: 0, waiting: 0 });
    await pool.close();
    expect(await pool.failure(good, { tenantId: 'killed' })).toMatchObject({ code: 'unavailable' });
  },
);
