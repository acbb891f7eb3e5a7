import { toError } from './failure.ts';
import type { HostCalls, LeftBehind } from './host-calls.ts';
import type { TransformLimits } from './limits.ts';
import { withoutPool } from './thread/message/transform-message.ts';
import type { RunAnswer } from './thread/outcome.ts';
import type { Thread } from './threads.ts';
import type { TransformResult, TransformTask } from './transform-task.ts';

export interface Run {
  task: TransformTask;
  /** By `performance.now()`. */
  askedAt: number;
  resolve(result: TransformResult): void;
  reject(error: unknown): void;
}

/** Runs of one version of a transform that go to a thread in one message. */
export interface Batch {
  tenantId: string;
  transform: Transform;
  /** At least one. The first one's settings apply to all. */
  runs: [Run, ...Run[]];
  /** Read before the batch waits for a thread. */
  configurationJson: string;
  timer?: NodeJS.Timeout;
}

/** Statistics of one version of a transform. */
export interface Transform {
  /** From the last quick run; 0 before there was one. */
  runsPerBatch: number;
  /** The batch that waits for a thread and can still be joined. */
  open?: Batch | undefined;
}

/** Larger arguments may take longer than the run that determined the size of a batch. */
const largestArgs = 2 ** 16;

/**
 * Runs share a batch, because a message to a thread costs more than most runs. @returns a new batch, if the run can
 * join none with less than `most` runs.
 */
export function joinBatch(transform: Transform, run: Run, most: number): Batch | undefined {
  const batch: Batch = { tenantId: run.task.tenantId, transform, runs: [run], configurationJson: '' };
  if (most === 1 || run.task.once || run.task.wallMs !== undefined || sizeOf(run.task) > largestArgs) return batch;
  if (transform.open && transform.open.runs.length < most) {
    transform.open.runs.push(run);
    return undefined;
  }
  transform.open = batch;
  return batch;
}

export function seal(batch: Batch): void {
  if (batch.transform.open === batch) batch.transform.open = undefined;
}

const sizeOf = ({ argsJson, message }: TransformTask) => argsJson.length + (message?.body.byteLength ?? 0);

/** A run has a result, an error, or neither if it has to begin again. */
export interface RunEnd {
  run: Run;
  /** Undefined if the thread ended before it answered. */
  answer: RunAnswer | undefined;
  durationMs: number;
  result?: TransformResult;
  error?: unknown;
  /** Resolves when the unfinished calls of the run have ended; undefined if there are none. */
  calls?: Promise<void> | undefined;
}

export interface BatchInput {
  limits: TransformLimits;
  hostCalls: HostCalls;
  /** A run that uses this much CPU time is interrupted, to begin again in a slow thread; undefined in a slow thread. */
  quickMs: number | undefined;
}

const nothing: LeftBehind = { hasActed: false, calls: undefined };

/**
 * Sends a batch to a thread. If the thread dies, any of its runs may be the cause, so each begins again; but a run that
 * has acted through its client is never repeated. @returns the ends of its runs, and the runs that did not begin.
 */
export async function sendBatch(
  { runs, configurationJson }: Batch,
  thread: Pick<Thread, 'run'>,
  { limits: limitsOfPool, hostCalls, quickMs }: BatchInput,
): Promise<{ ends: RunEnd[]; givenBack: Run[] }> {
  const { tenantId, ownerId, kind, code, once = false, parseOnly = false, wallMs = limitsOfPool.wallMs } = runs[0].task;
  const limits = { ...limitsOfPool, wallMs };
  const startedAt = performance.now();
  const inputs = runs.map(({ task: { argsJson, message, host, fetch, signal } }) => ({
    argsJson,
    message: message && { ...message, body: withoutPool(message.body) },
    hasClient: host !== undefined,
    mayFetch: fetch !== undefined,
    hostKey: host || fetch ? hostCalls.open(tenantId, { host, fetch, signal }) : undefined,
  }));
  let answers: RunAnswer[] = [];
  let failure: { error: unknown } | undefined;
  try {
    const message = {
      tenantId,
      ownerId,
      kind,
      code,
      configurationJson,
      once,
      parseOnly,
      quickMs,
      wallMs,
      runs: inputs,
    };
    answers = await thread.run(message);
  } catch (error) {
    failure = { error };
  }
  const ends: RunEnd[] = [];
  const givenBack: Run[] = [];
  for (const [index, run] of runs.entries()) {
    const hostKey = inputs[index]?.hostKey;
    const { hasActed, calls } = hostKey === undefined ? nothing : hostCalls.close(hostKey);
    const answer = answers[index];
    if (answer) ends.push({ run, answer, durationMs: answer.durationMs, ...endOf(answer, run.task, limits), calls });
    else if (!failure) givenBack.push(run);
    else if (runs.length > 1 && !hasActed) ends.push({ run, answer, durationMs: 0 });
    else ends.push({ run, answer, durationMs: performance.now() - startedAt, ...failure, calls });
  }
  return { ends, givenBack };
}

function endOf(
  { outcome, cpuMs, durationMs }: RunAnswer,
  { kind, signal }: TransformTask,
  limits: TransformLimits,
): Pick<RunEnd, 'result' | 'error'> {
  const none = {
    bodyJson: undefined,
    headersJson: undefined,
    tokenizeJson: undefined,
    message: undefined,
    cpuMs,
    durationMs,
  };
  switch (outcome.kind) {
    case 'slow':
      return {};
    case 'result': {
      const { bodyJson, headersJson, tokenizeJson } = outcome;
      return { result: { ...none, bodyJson, headersJson, tokenizeJson } };
    }
    case 'message':
      return { result: { ...none, message: outcome.written } };
    case 'aborted':
      return { error: signal?.reason };
    default:
      return { error: toError(outcome, { kind, limits }) };
  }
}
