import { openTestPool } from './testing/test-pool.ts';
import type { TransformTask } from './transform-task.ts';
import { newTurns, type Turn } from './turns.ts';

type Run = { task: TransformTask };
const version = {};

function runOf(part: Partial<TransformTask> = {}): Run {
  const task = { tenantId: 't', proxyId: 'p', kind: 'request', code: '', argsJson: '{}', version } as const;
  return { task: { ...task, configuration: async () => '{}', ...part } };
}

function openTurns() {
  const started: { turn: Turn<Run>; close: () => void }[] = [];
  const turns = newTurns<Run>((turn, close) => started.push({ turn, close }));
  return { turns, started, sizes: () => started.map(({ turn }) => turn.length) };
}

const nextPhase = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('who shares a turn', () => {
  test('what comes in one phase of the event loop, as many as may', async () => {
    const { turns, sizes } = openTurns();
    for (let i = 0; i < 7; i += 1) turns.add(runOf(), 3);
    expect(sizes()).toEqual([]);
    await nextPhase();
    expect(sizes()).toEqual([3, 3, 1]);
  });

  test('what comes while the turn waits for a thread, until it is closed', async () => {
    const { turns, started, sizes } = openTurns();
    turns.add(runOf(), 9);
    await nextPhase();
    turns.add(runOf(), 9);
    expect(sizes()).toEqual([2]);
    started[0]?.close();
    turns.add(runOf(), 9);
    await nextPhase();
    expect(sizes()).toEqual([2, 1]);
  });

  test('nobody joins what has waited for long, and may be refused soon', async () => {
    const { turns, sizes } = openTurns();
    turns.add(runOf(), 9);
    await nextPhase();
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + 200);
    turns.add(runOf(), 9);
    jest.restoreAllMocks();
    await nextPhase();
    expect(sizes()).toEqual([1, 1]);
  });

  test.each<[string, Partial<TransformTask>]>([
    ['another version', { version: {} }],
    ['the other kind', { kind: 'response' }],
  ])('not %s', async (_, part) => {
    const { turns, sizes } = openTurns();
    turns.add(runOf(), 9);
    turns.add(runOf(part), 9);
    turns.add(runOf(), 9);
    await nextPhase();
    expect(sizes()).toEqual([2, 1]);
  });

  test.each<[string, Partial<TransformTask>, number]>([
    ['without a version', { version: undefined }, 9],
    ['that is to have an instance of its own', { once: true }, 9],
    ['with much to work on', { argsJson: ' '.repeat(2 ** 17) }, 9],
    ['whose code is not known to be quick', {}, 1],
  ])('a run %s goes alone, and at once', (_, part, most) => {
    const { turns, sizes } = openTurns();
    turns.add(runOf(), 9);
    for (let i = 0; i < 2; i += 1) turns.add(runOf(part), most);
    expect(sizes()).toEqual([1, 1]);
  });
});

describe('in a pool', () => {
  const limits = { cpuMs: 200, wallMs: 10_000 };
  const code = `
    let runs = 0;
    module.exports = async ({ args, svc }) => {
      console.log('run', args.of);
      runs += 1;
      if (args.acts) await svc.tokenize(args.of);
      if (args.loops) for (;;);
      if (args.blocks) return new Array(1e9) + '';
      const end = Date.now() + (args.takesMs ?? 0);
      while (Date.now() < end);
      if (args.throws) throw new Error('of ' + args.of);
      return { body: { of: args.of, runs } };
    }`;

  /** Runs the code for all inputs at once, after it has become known, and tells what became of each. */
  async function runAll(inputs: object[], task: Partial<TransformTask> = {}) {
    const pool = openTestPool({ limits, queueLimit: 100 });
    await pool.ready();
    for (let i = 0; i < 3; i += 1) await pool.run(code, { version, argsJson: '{}' });
    const printed = inputs.map(() => [] as string[]);
    const ends = await Promise.all(
      inputs.map((input, of) =>
        pool
          .run(code, {
            version,
            argsJson: JSON.stringify({ of, ...input }),
            ...task,
            onEnd: ({ console }) => printed[of]?.push(...console.map(({ text }) => text)),
          })
          .then(
            ({ bodyJson }): unknown => JSON.parse(bodyJson ?? ''),
            (error): string => error.detail,
          ),
      ),
    );
    const state = pool.state();
    await pool.close();
    return { ends, printed, state };
  }

  const good = (of: number) => expect.objectContaining({ of });

  test('each run has its own result and its own console, in the instance of the runs before', async () => {
    const { ends, printed, state } = await runAll(Array.from({ length: 40 }, () => ({})));
    expect(ends).toEqual(Array.from({ length: 40 }, (_, of) => good(of)));
    const counts = ends.map((end) => Number(Object(end).runs)).toSorted((a, b) => a - b);
    expect(counts).toEqual(Array.from({ length: 40 }, (_, index) => index + 4));
    expect(printed).toEqual(Array.from({ length: 40 }, (_, of) => [`run ${of}`]));
    expect(state).toMatchObject({ runs: 43, running: 0, waiting: 0 });
  });

  test('an error is that of its own run', async () => {
    const { ends } = await runAll([{}, { throws: true }, {}]);
    expect(ends).toEqual([good(0), 'Error: of 1 (line 11)', good(2)]);
  });

  test('runs that take longer than those before them are all answered', async () => {
    const { ends } = await runAll(Array.from({ length: 12 }, () => ({ takesMs: 6 })));
    expect(ends).toEqual(Array.from({ length: 12 }, (_, of) => good(of)));
  });

  test.each(['loops', 'blocks'])('one that %s is stopped, and the others are answered', async (hangs) => {
    const { ends, state } = await runAll([{}, {}, { [hangs]: true }, {}, {}]);
    expect(ends).toEqual([good(0), good(1), expect.stringContaining('CPU time'), good(3), good(4)]);
    expect(state.stops).toEqual({ cpuMs: 1 });
  });

  test('what has acted through its client is answered, whatever comes behind it in the turn', async () => {
    const acted: string[] = [];
    const host = async (_: string, payloadJson: string) => {
      acted.push(payloadJson);
      return '1';
    };
    const { ends, state } = await runAll([{}, { acts: true }, { blocks: true }, {}], { host });
    expect(acted).toEqual(['1']);
    expect(ends).toEqual([good(0), good(1), expect.stringContaining('CPU time'), good(3)]);
    expect(state.stops).toEqual({ cpuMs: 1 });
  });

  test('those that wait are told from those whose turn it is', async () => {
    const pool = openTestPool({ limits });
    await pool.ready();
    for (let i = 0; i < 3; i += 1) await pool.run(code, { version, argsJson: '{}' });
    const runs = Array.from({ length: 40 }, () => pool.run(code, { version, argsJson: '{}' }));
    expect(pool.state()).toMatchObject({ running: 0, waiting: 40 });
    await Promise.race(runs);
    const { running, waiting } = pool.state();
    expect(running).toBe(1);
    expect(waiting).toBeLessThan(40);
    await Promise.all(runs);
    expect(pool.state()).toMatchObject({ running: 0, waiting: 0 });
    await pool.close();
  });

  test('no thread waits for a configuration', async () => {
    const pool = openTestPool({ limits });
    await pool.ready();
    const read = Promise.withResolvers<string>();
    const waits = pool.body(code, { configuration: () => read.promise });
    expect(await pool.body(code, { tenantId: 'other' })).toMatchObject({ runs: 1 });
    expect(pool.state()).toMatchObject({ running: 0, waiting: 1 });
    read.resolve('{}');
    expect(await waits).toMatchObject({ runs: 1 });
    await pool.close();
  });

  test('a configuration that cannot be read fails the runs that wait for it', async () => {
    const configuration = async () => {
      throw new Error('unreadable');
    };
    const pool = openTestPool();
    await pool.ready();
    for (let i = 0; i < 3; i += 1) await pool.run(code, { version, argsJson: '{}' });
    const runs = [1, 2].map(() => pool.run(code, { version, configuration }));
    expect(await Promise.allSettled(runs)).toMatchObject([1, 2].map(() => ({ reason: { message: 'unreadable' } })));
    expect(pool.state()).toMatchObject({ runs: 3, running: 0, waiting: 0 });
    await pool.close();
  });
});
