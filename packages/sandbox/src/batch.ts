import { stopped, toError } from './failure.ts';
import type { HostCalls } from './host-calls.ts';
import type { TransformLimits } from './limits.ts';
import type { BatchTask } from './thread/messages.ts';
import type { RunAnswer } from './thread/outcome.ts';
import { type Thread, ThreadEnded } from './threads.ts';
import type { TransformResult, TransformTask } from './transform-task.ts';

export interface Run {
  task: TransformTask;
  /** By `performance.now()`. */
  askedAt: number;
  resolve(result: TransformResult): void;
  reject(error: unknown): void;
}

/** Runs of one version of a transform that go to a thread in one message. The first run speaks for all. */
export type Batch = [Run, ...Run[]];

export interface Transform {
  /** Judged by the last quick run; 0 before there was one. */
  runsPerBatch: number;
  /** The batch that waits for a thread, and that other runs may join. */
  open: Batch | undefined;
}

export const newTransform = (): Transform => ({ runsPerBatch: 0, open: undefined });

/** Larger arguments may take longer than the run by which the size of a batch was judged. */
const largestArgs = 2 ** 16;

/**
 * Runs share a batch, because a message to a thread costs more than most runs. @returns the batch that the run begins
 * where it can join none with less than `most` runs.
 */
export function joinBatch(transform: Transform, run: Run, most: number): Batch | undefined {
  if (most === 1 || run.task.once || sizeOf(run.task) > largestArgs) return [run];
  if (transform.open && transform.open.length < most) {
    transform.open.push(run);
    return undefined;
  }
  transform.open = [run];
  return transform.open;
}

/** From now on no run joins the batch. */
export function seal(transform: Transform, batch: Batch): void {
  if (transform.open === batch) transform.open = undefined;
}

const sizeOf = ({ argsJson, message }: TransformTask) => argsJson.length + (message?.text.length ?? 0);

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
  again: Batch[];
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
 * Sends a batch to a thread. Runs that the thread gave back are sent again together, and a slow run alone. If the thread
 * ended, any of several runs may be to blame, so each is sent again alone; but no run is repeated that has acted through
 * its client.
 */
export async function sendBatch(batch: Batch, thread: Pick<Thread, 'run'>, input: BatchInput): Promise<BatchEnd> {
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
    answers = (await thread.run({ name: 'run', batch: task })) as RunAnswer[];
  } catch (error) {
    failure = { error: error instanceof ThreadEnded ? stopped(error.limit, limits) : error };
  }
  const acted = runs.map(({ hostKey }) => hostKey !== undefined && hostCalls.close(hostKey));
  const end: BatchEnd = { ended: [], slow: [], again: [], isThreadLost: failure !== undefined };
  const givenBack: Run[] = [];
  for (const [index, run] of batch.entries()) {
    const answer = answers[index];
    if (answer) {
      const result = toResult(answer, limits);
      if (result) end.ended.push({ run, answer, durationMs: answer.durationMs, ...result });
      else {
        end.slow.push(answer);
        end.again.push([run]);
      }
    } else if (!failure) givenBack.push(run);
    else if (batch.length > 1 && !acted[index]) end.again.push([run]);
    else end.ended.push({ run, answer, durationMs: performance.now() - startedAt, error: failure.error });
  }
  const [first, ...others] = givenBack;
  if (first) end.again.push([first, ...others]);
  return end;
}

/** Undefined for a run that is to begin again. */
function toResult(
  { outcome, cpuMs, durationMs }: RunAnswer,
  limits: TransformLimits,
): Pick<EndedRun, 'result' | 'error'> | undefined {
  if (outcome.kind === 'slow') return undefined;
  if (outcome.kind !== 'result' && outcome.kind !== 'message') return { error: toError(outcome, limits) };
  const message = outcome.kind === 'message' ? outcome.written : undefined;
  const { bodyJson, headersJson } = outcome.kind === 'result' ? outcome : noTexts;
  return { result: { bodyJson, headersJson, message, cpuMs, durationMs } };
}

const noTexts = { bodyJson: undefined, headersJson: undefined };
