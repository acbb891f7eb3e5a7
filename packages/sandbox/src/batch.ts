import { stopped, toError } from './failure.ts';
import type { HostCalls } from './host-calls.ts';
import type { TransformLimits } from './limits.ts';
import type { BatchTask } from './thread/messages.ts';
import type { Outcome, RunAnswer } from './thread/outcome.ts';
import { ThreadEnded, type Threads } from './threads.ts';
import type { TransformResult, TransformTask } from './transform-task.ts';

/** A run, and the caller that waits for it. */
export interface Run {
  task: TransformTask;
  /** When the caller asked for it, as `performance.now()` tells it. */
  askedAt: number;
  resolve(result: TransformResult): void;
  reject(error: unknown): void;
}

/** Runs of one version of a transform that go to a thread in one message. The first one speaks for all. */
export type Batch = [Run, ...Run[]];

/** Larger arguments may take longer than the runs that the size of a batch was judged by. */
const largestArgs = 2 ** 16;

/**
 * Collects runs into batches, because a message to a thread costs more than most runs: while a batch waits, other runs
 * of its version join it. `start` gets each batch once, when its first run comes.
 */
export function newBatches(start: (batch: Batch) => void) {
  const open = { request: new Map<object, Batch>(), response: new Map<object, Batch>() };

  return {
    /** Joins a batch of at most `most` runs, or begins one. */
    add: (run: Run, most: number): void => {
      const { version, kind, once } = run.task;
      if (version === undefined || most === 1 || once || sizeOf(run.task) > largestArgs) {
        start([run]);
        return;
      }
      const joined = open[kind].get(version);
      if (joined && joined.length < most) {
        joined.push(run);
        return;
      }
      const batch: Batch = [run];
      open[kind].set(version, batch);
      start(batch);
    },
    /** The batch is about to be sent or refused: nobody joins it any more. */
    seal: (batch: Batch): void => {
      const { version, kind } = batch[0].task;
      if (version && open[kind].get(version) === batch) open[kind].delete(version);
    },
  };
}

const sizeOf = ({ argsJson, message }: TransformTask) => argsJson.length + (message?.text.length ?? 0);

/** A run that is over: with its result or its error. */
export interface EndedRun {
  run: Run;
  /** Undefined where the thread ended before it answered. */
  answer: RunAnswer | undefined;
  durationMs: number;
  result?: TransformResult;
  error?: unknown;
}

export interface BatchEnd {
  ended: EndedRun[];
  /** What slow runs used before they were cut off. */
  slow: RunAnswer[];
  /** The batches in which the other runs are to be sent again. */
  again: Batch[];
  /** The thread gave no answers. */
  isThreadLost: boolean;
}

export interface BatchInput {
  configurationJson: string;
  limits: TransformLimits;
  hostCalls: HostCalls;
  /** A run that uses this much CPU time is cut off, to begin again in a slow thread; undefined in a slow thread. */
  quickMs: number | undefined;
}

/**
 * Sends a batch to a thread. Runs that the thread gave back are sent again together, and a slow run alone. Where the
 * thread ended, nobody knows which of several runs was to blame, so each is sent again alone; but no run that has acted
 * through its client is repeated.
 */
export async function sendBatch(batch: Batch, threads: Threads, input: BatchInput): Promise<BatchEnd> {
  const { limits, hostCalls, quickMs, configurationJson } = input;
  const { tenantId, proxyId, kind, code, once = false } = batch[0].task;
  const startedAt = performance.now();
  const runs = batch.map(({ task: { argsJson, message, host } }) => ({
    argsJson,
    message,
    hostKey: host && hostCalls.open(host),
  }));
  let answers: RunAnswer[] = [];
  let failure: { error: unknown } | undefined;
  try {
    const task: BatchTask = { tenantId, proxyId, kind, code, configurationJson, once, quickMs, runs };
    answers = (await threads.run('run', task)) as RunAnswer[];
  } catch (error) {
    failure = { error: error instanceof ThreadEnded ? stopped(error.limit, limits) : error };
  }
  const acted = runs.map(({ hostKey }) => hostKey !== undefined && hostCalls.close(hostKey));
  const ended: EndedRun[] = [];
  const slow: RunAnswer[] = [];
  const alone: Run[] = [];
  const together: Run[] = [];
  for (const [index, run] of batch.entries()) {
    const answer = answers[index];
    const durationMs = answer?.durationMs ?? performance.now() - startedAt;
    if (answer && !isFinal(answer)) {
      slow.push(answer);
      alone.push(run);
    } else if (answer) ended.push({ run, answer, durationMs, ...toResult(answer, limits) });
    else if (!failure) together.push(run);
    else if (batch.length > 1 && !acted[index]) alone.push(run);
    else ended.push({ run, answer, durationMs, error: failure.error });
  }
  const [first, ...others] = together;
  const again: Batch[] = [...alone.map((run): Batch => [run]), ...(first ? [[first, ...others] satisfies Batch] : [])];
  return { ended, slow, again, isThreadLost: failure !== undefined };
}

function toResult(
  { outcome, cpuMs, durationMs }: FinalAnswer,
  limits: TransformLimits,
): Pick<EndedRun, 'result' | 'error'> {
  const used = { cpuMs, durationMs };
  if (outcome.kind === 'message') {
    return { result: { bodyJson: undefined, headersJson: undefined, message: outcome.written, ...used } };
  }
  if (outcome.kind !== 'result') return { error: toError(outcome, limits) };
  const { bodyJson, headersJson } = outcome;
  return { result: { bodyJson, headersJson, message: undefined, ...used } };
}

type FinalAnswer = RunAnswer & { outcome: Exclude<Outcome, { kind: 'slow' }> };

const isFinal = (answer: RunAnswer): answer is FinalAnswer => answer.outcome.kind !== 'slow';
