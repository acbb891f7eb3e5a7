import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { newBreaker } from './breaker.ts';
import { defaultTransformLimits as limits } from './limits.ts';
import type { HostCall, TurnTask } from './thread/messages.ts';
import type { RunAnswer } from './thread/outcome.ts';
import { ThreadEnded, type Threads } from './threads.ts';
import { newTrackRecord } from './track-record.ts';
import { newTurnRunner, type Run } from './turn-runner.ts';
import type { Turn } from './turns.ts';

const answer: RunAnswer = {
  outcome: { kind: 'result', bodyJson: '1', headersJson: undefined },
  cpuMs: 0.1,
  durationMs: 0.2,
  hostCalls: 0,
  isCut: false,
  console: [],
};

/** Runs a turn of three in a thread that does this. */
async function runInThread(
  thread: (task: TurnTask, port: MessagePort) => Promise<RunAnswer[]>,
  onEndOf: (index: number) => void = () => {},
) {
  const record = newTrackRecord({ slowMs: 25, newCodeMs: 5, memoryMs: 60_000 });
  const breaker = newBreaker({ kills: 10, windowMs: 60_000, openMs: 60_000 });
  const runner = newTurnRunner({ limits, record, breaker, onSuspend: undefined, isClosed: () => false });
  const { port1, port2 } = new MessageChannel();
  const called: string[] = [];
  const ended: number[] = [];
  const turn = [0, 1, 2].map((index): Run => {
    const task = { tenantId: 't', proxyId: 'p', kind: 'request', code: '', argsJson: `${index}` } as const;
    const host = async (operation: string) => {
      called.push(`${operation} of ${index}`);
      return '1';
    };
    const onEnd = () => {
      ended.push(index);
      onEndOf(index);
    };
    return { task: { ...task, configuration: async () => '{}', host, onEnd }, resolve: () => {}, reject: () => {} };
  });
  runner.listen(port1);
  const run = (_: string, task: unknown) => thread(task as TurnTask, port2);
  const threads: Threads = { up: 1, giveWay: false, run, close: async () => {} };
  try {
    const { ends, again } = await runner.run(turn as Turn<Run>, '{}', threads);
    const indexOf = ({ task }: Run) => Number(task.argsJson);
    return {
      results: ends.filter(({ result }) => result).map(({ run }) => indexOf(run)),
      errors: ends.filter(({ error }) => error).map(({ run }) => indexOf(run)),
      again: again.map((rest) => rest.map(indexOf)),
      called,
      ended,
      counts: runner.counts,
      givesWay: record.givesWay('t', ''),
    };
  } finally {
    port1.close();
  }
}

test('each answer is that of its run, and what the thread gave back is to be run again', async () => {
  const { ended, counts, givesWay, ...went } = await runInThread(async () => [answer]);
  expect(went).toMatchObject({ results: [0], errors: [], again: [[1, 2]] });
  expect(ended).toEqual([0]);
  expect(counts).toMatchObject({ runs: 1, cpuMs: 0.1, durationMs: 0.2, stops: {} });
  expect(givesWay).toBe(false);
});

test('a slow run, of which nothing came, is to be run again by itself, and what is behind it, too', async () => {
  const slow: RunAnswer = { ...answer, outcome: { kind: 'slow' }, cpuMs: 30, console: [{ level: 'info', text: 'a' }] };
  const { ended, counts, givesWay, ...went } = await runInThread(async () => [answer, slow]);
  expect(went).toMatchObject({ results: [0], errors: [], again: [[1], [2]] });
  expect(ended).toEqual([0]);
  expect(counts).toMatchObject({ runs: 1, cpuMs: 30.1, durationMs: 0.4, stops: {} });
  expect(givesWay).toBe(true);
});

test('when the thread had to be ended, runs are repeated, but none that has acted through its client', async () => {
  const { called, ended, counts, givesWay, ...went } = await runInThread(async ({ runs }, port) => {
    const call: HostCall = { hostKey: runs[1]?.hostKey ?? '', id: 1, operation: 'tokenize', payloadJson: '1' };
    const answered = new Promise((resolve) => port.once('message', resolve));
    port.postMessage(call);
    await answered;
    throw new ThreadEnded('cpuMs');
  });
  expect(called).toEqual(['tokenize of 1']);
  expect(went).toMatchObject({ results: [], errors: [1], again: [[0], [2]] });
  expect(ended).toEqual([1]);
  expect(counts).toMatchObject({ runs: 1, stops: { cpuMs: 1 } });
  expect(givesWay).toBe(true);
});

test('who fails when it is told of the end of one run costs the others nothing', async () => {
  const { results, errors, ended } = await runInThread(
    async () => [answer, answer, answer],
    (index) => {
      if (index === 1) throw new Error('the log is full');
    },
  );
  expect({ results, errors, ended }).toEqual({ results: [0, 2], errors: [1], ended: [0, 1, 2] });
});

test('a call that arrives after the end is not answered, nor is one under another key', async () => {
  let late: Promise<unknown> = Promise.resolve();
  const { called } = await runInThread(async ({ runs }, port) => {
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
