import type { Transform } from './batch.ts';
import { type Group, Schedule, type Work } from './schedule.ts';
import type { Outcome, RunAnswer, Stop } from './thread/outcome.ts';

let now = 0;
const slowMs = 200;

type Named = Work & { name: number };

/** Of groups of this many threads. */
function testSchedule(threads = 9, everyRunHasSlot = false) {
  const schedule = new Schedule<Named>(slowMs, { clock: () => now, everyRunHasSlot });
  const transforms = new Map<string, Transform>();
  const transformOf = (tenantId: string, code: string) => {
    const key = `${tenantId} ${code}`;
    const transform = transforms.get(key) ?? { runsPerBatch: 0 };
    transforms.set(key, transform);
    return transform;
  };
  const work = (tenantId: string, name = 0, code = 'code') => ({
    tenantId,
    name,
    transform: transformOf(tenantId, code),
  });
  return {
    add: (one: Named) => schedule.add(one),
    remove: (one: Named) => schedule.remove(one),
    evict: (most: number) => schedule.evict(most),
    release: (one: Named) => schedule.release(one),
    running: () => schedule.running(),
    work,
    /** Adds work of a Tenant under these names. */
    addAll: (tenantId: string, names: number[], code?: string) => {
      for (const name of names) schedule.add(work(tenantId, name, code));
    },
    take: (group: Group = 'quick') => schedule.next(group, threads),
    /** The names of what starts now. */
    takeAll: (group: Group = 'quick') => {
      const names: number[] = [];
      for (let next = schedule.next(group, threads); next; next = schedule.next(group, threads)) names.push(next.name);
      return names;
    },
    makeKnown: (...tenants: string[]) => {
      for (const tenantId of tenants) schedule.ended(work(tenantId), answer(1));
    },
    makeSlow: (...tenants: string[]) => {
      for (const tenantId of tenants) schedule.ended(work(tenantId), undefined);
    },
    /** How the only work of a Tenant would be treated now. */
    classOf: (tenantId: string, code: string) => {
      const asked = work(tenantId, 0, code);
      schedule.add(asked);
      const taken = schedule.next('slow', threads);
      if (taken) schedule.release(taken);
      schedule.remove(asked);
      return taken === asked ? 'slow' : schedule.quickMs(asked) === slowMs ? 'known' : 'new';
    },
    quickMs: (tenantId: string, code: string) => schedule.quickMs(work(tenantId, 0, code)),
    runsPerBatch: (tenantId: string, code: string) => schedule.runsPerBatch(work(tenantId, 0, code)),
    /** A run of this code ended: with an answer, or with its thread. */
    ended: (tenantId: string, code: string, end: RunAnswer | undefined, limit?: Stop) =>
      schedule.ended(work(tenantId, 0, code), end, limit),
  };
}

const answer = (
  cpuMs: number,
  outcome: Outcome = { kind: 'result', bodyJson: '1', headersJson: undefined },
  part: Partial<RunAnswer> = {},
): RunAnswer => ({ cpuMs, durationMs: cpuMs, hostCalls: 0, isCut: false, outcome, console: [], ...part });

describe('whose work is next', () => {
  test('one Tenant alone is served in order', () => {
    const { addAll, takeAll } = testSchedule();
    addAll('a', [1, 2, 3]);
    expect(takeAll()).toEqual([1, 2, 3]);
  });

  test('the Tenant with less running goes first', () => {
    const { addAll, take, takeAll, release, running } = testSchedule();
    addAll('a', [1, 2, 3]);
    const first = take();
    addAll('b', [4]);
    expect(take()?.name).toBe(4);
    if (first) release(first);
    addAll('b', [5]);
    expect(takeAll()).toEqual([2, 5, 3]);
    expect(running()).toBe(4);
  });

  test('among equals the Tenant that was served longest ago goes first, not the one with the older work', () => {
    const { addAll, take, release, makeKnown } = testSchedule(2);
    makeKnown('flood', 'small');
    addAll('flood', [1, 2, 3]);
    addAll('small', [4]);
    const order: (number | undefined)[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const taken = take();
      order.push(taken?.name);
      if (taken) release(taken);
    }
    expect(order).toEqual([1, 4, 2, 3]);
  });

  test('that lasts while a Tenant has nothing to do: who asks once in a while passes nobody twice', () => {
    const { addAll, take, release, makeKnown } = testSchedule(2);
    makeKnown('flood', 'small');
    addAll('flood', [1, 2, 3]);
    const order: (number | undefined)[] = [];
    for (const name of [4, 5]) {
      addAll('small', [name]);
      for (let turn = 0; turn < 2; turn += 1) {
        const taken = take();
        order.push(taken?.name);
        if (taken) release(taken);
      }
    }
    expect(order).toEqual([1, 4, 2, 5]);
  });

  test.each([
    [1, 1],
    [2, 1],
    [3, 2],
  ])('of %i threads one Tenant holds %i', (threads, share) => {
    const { addAll, takeAll, makeKnown } = testSchedule(threads);
    makeKnown('a');
    addAll('a', [1, 2, 3, 4]);
    for (const group of ['quick', 'slow'] as const) expect(takeAll(group)).toHaveLength(group === 'quick' ? share : 0);
  });

  test('a Tenant at its share waits, others do not', () => {
    const { addAll, take, takeAll, release, makeKnown } = testSchedule(2);
    makeKnown('a', 'b');
    addAll('a', [1, 2]);
    addAll('b', [3]);
    const first = take();
    expect([first?.name, ...takeAll()]).toEqual([1, 3]);
    if (first) release(first);
    expect(takeAll()).toEqual([2]);
  });

  test('what was removed does not start', () => {
    const { add, work, take, remove, evict } = testSchedule();
    const [first, second] = [work('a', 1), work('a', 2)];
    add(first);
    add(second);
    expect([remove(first), remove(first)]).toEqual([true, false]);
    expect(take()).toBe(second);
    expect(remove(second)).toBe(false);
    add(first);
    expect([evict(0), take()]).toEqual([first, undefined]);
  });

  test('a full queue loses the newest work of the Tenant with most waiting', () => {
    const { addAll, evict, takeAll } = testSchedule();
    addAll('b', [1]);
    addAll('a', [2, 3, 4]);
    expect([evict(2)?.name, evict(2)?.name, evict(2)]).toEqual([4, 3, undefined]);
    expect(takeAll()).toEqual([1, 2]);
  });

  test('new code leaves one thread to known code, which overtakes it', () => {
    const { addAll, takeAll, take, release, makeKnown } = testSchedule(3);
    makeKnown('a', 'c');
    for (const [tenantId, name] of [
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ] as const)
      addAll(tenantId, [name], 'new');
    addAll('a', [4]);
    addAll('c', [5]);
    const first = take();
    expect([first?.name, ...takeAll()]).toEqual([1, 2, 5, 4]);
    if (first) release(first);
    expect(takeAll()).toEqual([3]);
  });

  test('new code of one Tenant leaves two threads, one of them to new code of others', () => {
    const { addAll, takeAll, makeKnown } = testSchedule(4);
    makeKnown('a');
    addAll('a', [1, 2, 3], 'new');
    addAll('a', [4]);
    expect(takeAll()).toEqual([1, 2, 4]);
    addAll('b', [5, 6], 'new');
    expect(takeAll()).toEqual([5]);
  });

  test('where every run has a slot, new code may fill the threads', () => {
    const { addAll, takeAll } = testSchedule(4, true);
    addAll('a', [1, 2, 3, 4], 'new');
    addAll('b', [5], 'new');
    expect(takeAll()).toEqual([1, 5, 2, 3]);
  });

  test('whether code is known is asked when it could start, not before', () => {
    const { addAll, takeAll, makeKnown } = testSchedule(2);
    addAll('a', [1], 'new');
    addAll('b', [2]);
    expect(takeAll()).toEqual([1]);
    makeKnown('b');
    expect(takeAll()).toEqual([2]);
  });
});

describe('the slow threads', () => {
  test('take the work of slow Tenants, and only that', () => {
    const { addAll, takeAll, makeSlow } = testSchedule();
    makeSlow('slow');
    addAll('slow', [1]);
    addAll('other', [2]);
    expect([takeAll('quick'), takeAll('slow')]).toEqual([[2], [1]]);
  });

  test('take what waits when its Tenant turns out to be slow', () => {
    const { addAll, ended, takeAll } = testSchedule(2);
    addAll('a', [1, 2]);
    addAll('b', [3]);
    expect([ended('a', 'code', undefined), ended('b', 'other', answer(1))]).toEqual([true, false]);
    expect([takeAll('quick'), takeAll('slow')]).toEqual([[3], [1]]);
  });

  test('a full queue loses work of a slow Tenant first, though others have more', () => {
    const { addAll, evict, makeSlow } = testSchedule();
    makeSlow('slow', 'idle');
    addAll('slow', [1, 2]);
    addAll('a', [3, 4, 5]);
    expect([evict(4)?.name, evict(4)]).toEqual([2, undefined]);
    addAll('a', [6, 7]);
    expect([evict(4)?.name, evict(4)?.name]).toEqual([1, 7]);
  });

  test('of a Tenant whose new code is slow, the known code stays where it is', () => {
    const { addAll, ended, makeKnown, takeAll } = testSchedule();
    makeKnown('a');
    addAll('a', [1]);
    addAll('a', [2], 'new');
    ended('a', 'other', answer(50, { kind: 'slow' }));
    expect([takeAll('quick'), takeAll('slow')]).toEqual([[1], [2]]);
  });

  test('serve Tenants in turns, however much one of them has waiting', () => {
    const { addAll, take, release, makeSlow } = testSchedule(2);
    makeSlow('slow', 'new');
    addAll('slow', [1, 2, 5]);
    const first = take('slow');
    addAll('new', [3, 4]);
    if (first) release(first);
    const served = [first?.name];
    for (let next = take('slow'); next; next = take('slow')) {
      served.push(next.name);
      release(next);
    }
    expect(served).toEqual([1, 2, 3, 5, 4]);
  });
});

describe('what is learnt from runs', () => {
  test('code is known once a run was quick, for its own Tenant', () => {
    const { ended, classOf } = testSchedule();
    expect(classOf('a', 'code')).toBe('new');
    ended('a', 'code', answer(199));
    expect([classOf('a', 'code'), classOf('a', 'new code'), classOf('b', 'code')]).toEqual(['known', 'new', 'new']);
  });

  test.each([
    ['an error of the code', { kind: 'thrown', failure: { kind: 'error' } }],
    ['too much output', { kind: 'stopped', by: 'outputBytes' }],
  ] as const)('%s is a quick end', (_, outcome) => {
    const { ended, classOf } = testSchedule();
    ended('a', 'code', answer(1, outcome));
    expect(classOf('a', 'code')).toBe('known');
  });

  test.each([
    ['a slow run', answer(200), undefined],
    ['one that was cut off because of it', answer(200, { kind: 'slow' }), undefined],
    ['one that was as slow after its answer', answer(200, undefined, { isCut: true }), undefined],
    ['a kill', answer(1, { kind: 'thrown', failure: { kind: 'error' } }), 'heapBytes'],
    ['the end of the thread', undefined, undefined],
  ] as const)('%s makes its Tenant slow for a minute, and nobody else', (_, end, limit) => {
    const { ended, classOf, makeKnown } = testSchedule();
    makeKnown('a', 'b');
    const classes = () => ['a', 'b'].map((tenantId) => classOf(tenantId, 'code'));
    expect(classes()).toEqual(['known', 'known']);
    ended('a', 'code', end, limit);
    ended('a', 'other code', answer(1));
    now += 59_999;
    expect(classes()).toEqual(['slow', 'known']);
    now += 1;
    expect(classes()).toEqual(['known', 'known']);
  });

  test('new code has less time than known code, and never more', () => {
    const { quickMs, makeKnown } = testSchedule();
    makeKnown('a');
    const times = ['a', 'b'].map((tenantId) => quickMs(tenantId, 'code'));
    expect([...times, quickMs('a', 'new')]).toEqual([200, 50, 50]);
    expect(new Schedule(10).quickMs({ tenantId: 'a', transform: { runsPerBatch: 0 } })).toBe(10);
  });

  test.each([
    ['', answer(20, { kind: 'slow' })],
    [' after its answer', answer(20, undefined, { isCut: true })],
    [' after its error', answer(20, { kind: 'thrown', failure: { kind: 'error' } }, { isCut: true })],
  ])('where that was too little%s, new code of its Tenant is slow for a minute, until it is known', (_, end) => {
    const { ended, classOf } = testSchedule();
    for (const tenantId of ['a', 'b']) ended(tenantId, 'known', answer(1));
    ended('a', 'code', end);
    const slow = () => ['known', 'code', 'new'].filter((code) => classOf('a', code) === 'slow');
    expect(classOf('b', 'code')).toBe('new');
    expect(slow()).toEqual(['code', 'new']);
    ended('a', 'code', answer(199));
    expect(slow()).toEqual(['new']);
    now += 60_000;
    expect(slow()).toEqual([]);
  });

  test.each([
    ['is not known', [], 1],
    ['is quick', [answer(0.25)], 4],
    ['is very quick', [answer(0.001)], 16],
    ['was quicker before', [answer(0.1), answer(0.5)], 2],
    ['takes longer than a batch may', [answer(30)], 1],
    ['calls the client', [answer(0.25, undefined, { hostCalls: 1 })], 1],
    ['is of a Tenant that is slow', [answer(0.25), undefined], 1],
  ] as const)('the number of runs in a batch, of code that %s', (_, ends, expected) => {
    const { ended, runsPerBatch } = testSchedule();
    for (const end of ends) ended('a', 'code', end);
    expect(runsPerBatch('a', 'code')).toBe(expected);
  });
});

describe('what is remembered is bounded', () => {
  test('of many slow Tenants the one that was slow first is forgotten, but none loses its share', () => {
    const { addAll, take, release, makeSlow, classOf, running, takeAll } = testSchedule(2);
    makeSlow('first', 'works');
    addAll('works', [1, 2]);
    const held = take('slow');
    for (let i = 0; i < 9_999; i += 1) makeSlow(`${i}`);
    expect([classOf('first', 'code'), takeAll('quick')]).toEqual(['new', []]);
    makeSlow('one more');
    expect([takeAll('slow'), takeAll('quick'), running()]).toEqual([[], [2], 2]);
    if (held) release(held);
    expect(running()).toBe(1);
  });

  test('a Tenant that is slow again is remembered longer', () => {
    const { makeSlow, classOf } = testSchedule();
    makeSlow('again', 'once', 'again');
    for (let i = 0; i < 9_999; i += 1) makeSlow(`${i}`);
    expect([classOf('once', 'code'), classOf('again', 'code')]).toEqual(['new', 'slow']);
  });
});
