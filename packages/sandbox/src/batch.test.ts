import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { slow } from '@sluice/testing';
import { type Batch, joinBatch, type Run, seal, sendBatch, type Transform } from './batch.ts';
import { stopped } from './failure.ts';
import { HostCalls } from './host-calls.ts';
import { defaultTransformLimits } from './limits.ts';
import { openTestPool } from './testing/test-pool.ts';
import type { BatchTask, HostCall } from './thread/messages.ts';
import type { RunAnswer } from './thread/outcome.ts';
import type { TransformTask } from './transform-task.ts';

const version = {};

function runOf(part: Partial<TransformTask> = {}): Run {
  const task = { tenantId: 't', ownerId: 'p', kind: 'request', code: '', argsJson: '{}', version } as const;
  const waiting = { askedAt: 0, resolve: () => {}, reject: () => {} };
  return { task: { ...task, configuration: async () => '{}', ...part }, ...waiting };
}

describe('which runs share a batch', () => {
  /** Adds runs of one transform, and tells of the batches that began. */
  function openTransform() {
    const transform: Transform = { runsPerBatch: 0 };
    const began: Batch[] = [];
    return {
      add: (run: Run, most: number) => {
        const batch = joinBatch(transform, run, most);
        if (batch) began.push(batch);
      },
      sealAll: () => {
        for (const batch of began) seal(batch);
      },
      sizes: () => began.map(({ runs }) => runs.length),
    };
  }

  test('those that come while it waits, as many as may, until it is sealed', () => {
    const { add, sealAll, sizes } = openTransform();
    for (let i = 0; i < 7; i += 1) add(runOf(), 3);
    expect(sizes()).toEqual([3, 3, 1]);
    add(runOf(), 3);
    sealAll();
    add(runOf(), 3);
    expect(sizes()).toEqual([3, 3, 2, 1]);
  });

  test.each<[string, Partial<TransformTask>, number]>([
    ['that is to have an instance of its own', { once: true }, 9],
    ['with much to work on', { argsJson: ' '.repeat(2 ** 17) }, 9],
    ['whose code is not known to be quick', {}, 1],
  ])('a run %s goes alone', (_, part, most) => {
    const { add, sizes } = openTransform();
    add(runOf(), 9);
    for (let i = 0; i < 2; i += 1) add(runOf(part), most);
    expect(sizes()).toEqual([1, 1, 1]);
  });
});

describe('what becomes of the runs of a batch', () => {
  const answer: RunAnswer = {
    outcome: { kind: 'result', bodyJson: '1', headersJson: undefined },
    cpuMs: 0.1,
    durationMs: 0.2,
    hostCalls: 0,
    isCut: false,
    console: [],
  };

  /** Sends three runs to a thread that does this. */
  async function sendThree(thread: (task: BatchTask, port: MessagePort) => Promise<RunAnswer[]>) {
    const { port1, port2 } = new MessageChannel();
    const hostCalls = new HostCalls();
    const called: string[] = [];
    const runWith = (index: number) =>
      runOf({
        argsJson: `${index}`,
        host: async (operation) => {
          called.push(`${operation} of ${index}`);
          return '1';
        },
      });
    const runs: Batch['runs'] = [runWith(0), runWith(1), runWith(2)];
    hostCalls.listen(port1);
    const batch = { tenantId: 't', transform: { runsPerBatch: 3 }, runs, configurationJson: '{}' };
    try {
      const input = { limits: defaultTransformLimits, hostCalls, quickMs: 50 };
      const { ends, givenBack } = await sendBatch(batch, { run: (task) => thread(task, port2) }, input);
      const indexOf = ({ task }: Run) => Number(task.argsJson);
      return {
        results: ends.filter(({ result }) => result).map(({ run }) => indexOf(run)),
        errors: ends.filter(({ error }) => error).map(({ run }) => indexOf(run)),
        again: ends.filter(({ result, error }) => !result && !error).map(({ run }) => indexOf(run)),
        givenBack: givenBack.map(indexOf),
        called,
        ends,
      };
    } finally {
      port1.close();
    }
  }

  test('each answer is that of its run, and what the thread did not begin is given back', async () => {
    const { ends, ...went } = await sendThree(async () => [answer]);
    expect(went).toMatchObject({ results: [0], errors: [], again: [], givenBack: [1, 2] });
    expect(ends[0]).toMatchObject({ answer, durationMs: 0.2, result: { bodyJson: '1', cpuMs: 0.1, durationMs: 0.2 } });
  });

  test('a slow run, of which nothing came, begins again, and what is behind it is given back', async () => {
    const slow: RunAnswer = {
      ...answer,
      outcome: { kind: 'slow' },
      cpuMs: 30,
      console: [{ level: 'info', text: 'a' }],
    };
    const went = await sendThree(async () => [answer, slow]);
    expect(went).toMatchObject({ results: [0], errors: [], again: [1], givenBack: [2] });
    expect(went.ends[1]).toMatchObject({ answer: slow, durationMs: slow.durationMs });
  });

  test('when the thread had to be ended, runs are repeated, but none that has acted through its client', async () => {
    const { called, ends, ...went } = await sendThree(async ({ runs }, port) => {
      const call: HostCall = { hostKey: runs[1]?.hostKey ?? '', id: 1, operation: 'tokenize', payloadJson: '1' };
      const answered = new Promise((resolve) => port.once('message', resolve));
      port.postMessage(call);
      await answered;
      throw stopped('cpuMs', { kind: 'request', limits: defaultTransformLimits });
    });
    expect(called).toEqual(['tokenize of 1']);
    expect(went).toMatchObject({ results: [], errors: [1], again: [0, 2], givenBack: [] });
    expect(ends[1]).toMatchObject({ answer: undefined, error: { cause: { limit: 'cpuMs' } } });
  });

  test('a call that arrives after the end is not answered, nor is one under another key', async () => {
    let late: Promise<unknown> = Promise.resolve();
    const { called } = await sendThree(async ({ runs }, port) => {
      port.postMessage({ hostKey: 'guessed', id: 1, operation: 'guess', payloadJson: '1' } satisfies HostCall);
      late = new Promise<void>((resolve) => {
        setTimeout(() => {
          const hostKey = runs[0]?.hostKey ?? '';
          port.postMessage({ hostKey, id: 1, operation: 'late', payloadJson: '1' } satisfies HostCall);
          setTimeout(resolve, 20);
        }, 20);
      });
      return [answer, answer, answer];
    });
    await late;
    expect(called).toEqual([]);
  });
});

describe('in a pool', () => {
  const limits = { cpuMs: 200 };
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

  /** Runs it until a run was so quick that several share a message: on a busy machine the first ones may take longer. */
  async function makeQuick(pool: ReturnType<typeof openTestPool>): Promise<void> {
    let lastMs = Number.POSITIVE_INFINITY;
    for (let runs = 0; runs < 3 || lastMs > 0.3; runs += 1) {
      lastMs = (await pool.run(code, { version, argsJson: '{}' })).cpuMs;
    }
  }

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

  test.each<[string, Partial<TransformTask>]>([
    ['of another version', { version: {} }],
    ['of the other kind', { kind: 'response' }],
    ['without a version', { version: undefined }],
  ])('a run %s has a message of its own', async (_, part) => {
    const pool = openTestPool({ limits });
    await pool.ready();
    await makeQuick(pool);
    const tasks = [{}, part, {}];
    const configurations: number[] = [];
    await Promise.all(
      tasks.map((task, of) =>
        pool.run(code, {
          version,
          argsJson: '{}',
          ...task,
          configuration: async () => {
            configurations.push(of);
            return '{}';
          },
        }),
      ),
    );
    expect(configurations).toEqual([0, 1]); // a batch reads the configuration once, with its first run
    await pool.close();
  });

  test('an error is that of its own run', async () => {
    const { ends } = await runAll([{}, { throws: true }, {}]);
    expect(ends).toEqual([good(0), 'Error: of 1 (line 11)', good(2)]);
  });

  test('runs that take longer than those before them are all answered', async () => {
    const { ends } = await runAll(Array.from({ length: 12 }, () => ({ takesMs: 6 })));
    expect(ends).toEqual(Array.from({ length: 12 }, (_, of) => good(of)));
  });

  slow('0.8 s').each(['loops', 'blocks'])('one that %s is stopped, and the others are answered', async (hangs) => {
    const { ends, state } = await runAll([{}, {}, { [hangs]: true }, {}, {}]);
    expect(ends).toEqual([good(0), good(1), expect.stringContaining('CPU time'), good(3), good(4)]);
    expect(state.stops).toEqual({ cpuMs: 1 });
  });

  slow('1.5 s')('what has acted through its client is answered, whatever comes behind it in the batch', async () => {
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

  test('those that wait are counted apart from those in a thread', async () => {
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

  test('who fails when it is told of the end of one run costs the others nothing', async () => {
    const pool = openTestPool({ limits });
    await pool.ready();
    for (let i = 0; i < 3; i += 1) await pool.run(code, { version, argsJson: '{}' });
    const told: number[] = [];
    const runs = [0, 1, 2].map((index) =>
      pool.run(code, {
        version,
        argsJson: '{}',
        onEnd: () => {
          told.push(index);
          if (index === 1) throw new Error('the log is full');
        },
      }),
    );
    const ends = await Promise.allSettled(runs);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(ends[1]).toMatchObject({ reason: { message: 'the log is full' } });
    expect(told).toEqual([0, 1, 2]);
    expect(pool.state()).toMatchObject({ runs: 6, running: 0, waiting: 0 });
    await pool.close();
  });

  slow('0.6 s')('a run that began again counts once, with all that it used', async () => {
    const { ends, state } = await runAll([{ loops: true }]);
    expect(ends).toEqual([expect.stringContaining('CPU time')]);
    expect(state).toMatchObject({ runs: 4, stops: { cpuMs: 1 }, running: 0, waiting: 0 });
    expect(state.cpuMs).toBeGreaterThanOrEqual(limits.cpuMs * 1.25);
  });
});
