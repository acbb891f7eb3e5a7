import { ServiceError } from '@sluice/problems';
import type { Breaker, BrokenTransform } from './breaker.ts';
import { stopped, TransformStopped, toError } from './failure.ts';
import { newHostCalls } from './host-calls.ts';
import type { TransformLimits } from './limits.ts';
import { busy } from './scheduler.ts';
import type { TurnTask } from './thread/messages.ts';
import type { Outcome, RunAnswer, Stop } from './thread/outcome.ts';
import { ThreadEnded, type Threads } from './threads.ts';
import type { TrackRecord } from './track-record.ts';
import type { TransformResult, TransformTask } from './transform-task.ts';
import type { Turn } from './turns.ts';

/** A run, and who waits for it. */
export interface Run {
  task: TransformTask;
  resolve(result: TransformResult): void;
  reject(error: unknown): void;
}

/** What came of a run: the result, or the error. */
export interface RunEnd {
  run: Run;
  result?: TransformResult;
  error?: unknown;
}

/** What came of a turn: runs that ended, and the turns in which the others are to be run again. */
export interface TurnEnd {
  ends: RunEnd[];
  again: Turn<Run>[];
}

/** What runs used and how they were stopped, since the start. */
interface RunCounts {
  runs: number;
  cpuMs: number;
  durationMs: number;
  stops: Partial<Record<Stop, number>>;
}

type FinalAnswer = RunAnswer & { outcome: Exclude<Outcome, { kind: 'slow' }> };

/** What all runs of a turn have in common. */
interface Given {
  configurationJson: string;
  startedAt: number;
}

export interface TurnRunnerOptions {
  limits: TransformLimits;
  record: TrackRecord;
  breaker: Breaker;
  onSuspend: ((transform: BrokenTransform) => void) | undefined;
  /** Threads may end because the pool does. */
  isClosed(): boolean;
}

/** Has turns run in threads, answers the calls of their clients, and tells track record and breaker how they went. */
export function newTurnRunner({ limits, record, breaker, onSuspend, isClosed }: TurnRunnerOptions) {
  const hostCalls = newHostCalls();
  const counts: RunCounts = { runs: 0, cpuMs: 0, durationMs: 0, stops: {} };

  function count({ task }: Run, answer: RunAnswer | undefined, error: unknown, given: Given): void {
    const { configurationJson, startedAt } = given;
    const durationMs = answer?.durationMs ?? performance.now() - startedAt;
    const { console = [], cpuMs } = answer ?? {};
    counts.runs += 1;
    counts.cpuMs += cpuMs ?? 0;
    counts.durationMs += durationMs;
    const limit = limitOf(error);
    record.ended(task.tenantId, task.code, answer, limit);
    if (limit) counts.stops[limit] = (counts.stops[limit] ?? 0) + 1;
    const { tenantId, proxyId, kind } = task;
    if (breaker.ended(task, limit)) onSuspend?.({ tenantId, proxyId, kind });
    task.onEnd?.({ configurationJson, console, cpuMs, durationMs });
  }

  function endOf(run: Run, answer: FinalAnswer | undefined, failure: unknown, given: Given): RunEnd {
    let error = failure;
    try {
      if (answer && !isResult(answer.outcome)) error = toError(answer.outcome, limits);
      count(run, answer, error, given);
    } catch (thrown) {
      return { run, error: thrown }; // whoever was told of the end of this run; the others have theirs
    }
    if (!answer || !isResult(answer.outcome)) return { run, error };
    const { cpuMs, durationMs, outcome } = answer;
    return { run, result: { ...resultOf(outcome), cpuMs, durationMs } };
  }

  return {
    counts,
    listen: hostCalls.listen,
    /**
     * One message to a thread. What it gave back is run again together, and a slow run by itself. When it had to be ended,
     * nobody knows for which of several runs: then each is run again by itself, but none that has acted through its client.
     */
    run: async (turn: Turn<Run>, configurationJson: string, threads: Threads): Promise<TurnEnd> => {
      const { tenantId, proxyId, kind, code, once = false } = turn[0].task;
      const given: Given = { configurationJson, startedAt: performance.now() };
      const runs = turn.map(({ task }) => ({
        argsJson: task.argsJson,
        message: task.message,
        hostKey: task.host && hostCalls.open(task.host),
      }));
      let answers: RunAnswer[] = [];
      let failure: unknown;
      try {
        const quickMs = threads.giveWay ? undefined : record.quickMs(tenantId, code);
        const task: TurnTask = { tenantId, proxyId, kind, code, configurationJson, once, quickMs, runs };
        answers = (await threads.run('run', task)) as RunAnswer[];
      } catch (error) {
        record.ended(tenantId, code, undefined);
        if (error instanceof ThreadEnded) failure = stopped(error.limit, limits);
        else failure = isClosed() ? busy() : error;
      }
      const acted = runs.map(({ hostKey }) => hostKey !== undefined && hostCalls.close(hostKey));
      const ends: RunEnd[] = [];
      const left: Run[] = [];
      const slow: Run[] = [];
      for (const [index, run] of turn.entries()) {
        const answer = answers[index];
        if (answer && !isFinal(answer)) {
          record.ended(tenantId, code, answer);
          counts.cpuMs += answer.cpuMs;
          counts.durationMs += answer.durationMs;
          slow.push(run);
        } else if (!answer && turn.length > 1 && !acted[index]) left.push(run);
        else ends.push(endOf(run, answer, failure, given));
      }
      const single = failure === undefined ? slow : left;
      const together = failure === undefined ? left : [];
      return { ends, again: asTurns([...single.map((run) => [run]), together]) };
    },
  };
}

type Result = Extract<Outcome, { kind: 'result' | 'message' }>;

const isResult = (outcome: Outcome): outcome is Result => outcome.kind === 'result' || outcome.kind === 'message';

function resultOf(outcome: Result): Pick<TransformResult, 'bodyJson' | 'headersJson' | 'message'> {
  if (outcome.kind === 'message') return { bodyJson: undefined, headersJson: undefined, message: outcome.written };
  return { bodyJson: outcome.bodyJson, headersJson: outcome.headersJson, message: undefined };
}

const isFinal = (answer: RunAnswer): answer is FinalAnswer => answer.outcome.kind !== 'slow';

const asTurns = (groups: Run[][]): Turn<Run>[] =>
  groups.flatMap(([first, ...others]) => (first ? [[first, ...others] satisfies Turn<Run>] : []));

function limitOf(error: unknown): Stop | undefined {
  return error instanceof ServiceError && error.cause instanceof TransformStopped ? error.cause.limit : undefined;
}
