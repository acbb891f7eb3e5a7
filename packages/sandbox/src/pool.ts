import { ServiceError } from '@sluice/problems';
import {
  type Batch,
  type BatchEnd,
  type EndedRun,
  joinBatch,
  newTransform,
  type Run,
  seal,
  sendBatch,
  type Transform,
} from './batch.ts';
import { busy, type Job, openDispatch } from './dispatch.ts';
import { stopped, TransformStopped } from './failure.ts';
import { newHostCalls } from './host-calls.ts';
import type { TransformLimits } from './limits.ts';
import { newSchedule } from './schedule.ts';
import { newSuspensions, type SuspendedTransform, type SuspensionOptions } from './suspension.ts';
import type { RunAnswer, Stop } from './thread/outcome.ts';
import { ThreadEnded } from './threads.ts';
import type { CompileError, TransformResult, TransformTask } from './transform-task.ts';

export interface TransformPoolOptions {
  limits: TransformLimits;
  threads: number;
  /** Default: all but one, so that another Tenant is served at once. */
  tenantThreads?: number;
  queueLimit: number;
  /** Default: as long as a transform may run. */
  waitMs?: number;
  /** For example `SVC`: then the client is `req.svc` and the module of errors `svc-errors`. */
  headerPrefix: string;
  /** Without it a transform is never suspended. */
  suspension?: SuspensionOptions;
  onSuspend?(transform: SuspendedTransform): void;
  /** An idle thread broke; it is replaced. */
  onFault?(error: unknown): void;
}

export interface TransformPoolState {
  threads: number;
  running: number;
  waiting: number;
  /** Runs that ended, and what they used. The CPU time of threads that were ended is unknown. */
  runs: number;
  cpuMs: number;
  durationMs: number;
  stops: Readonly<Partial<Record<Stop, number>>>;
  /** Transforms that are suspended now, the suspensions so far, and the runs that they refused. */
  suspended: number;
  suspensions: number;
  suspendedRuns: number;
}

export interface TransformPool {
  /** Resolves when every thread has loaded once, or the pool is closed. Until then runs wait. */
  ready(): Promise<void>;
  /**
   * Rejects with a ServiceError `transform_failed`, with the code of an error of the module `svc-errors`, or `unavailable`
   * when too much waits; or with a `CustomHttpResponse`. The cause is a `TransformStopped` after a limit, a
   * `TransformThrew` after an error of the code, and a `TransformSuspended` during a suspension.
   */
  run(task: TransformTask): Promise<TransformResult>;
  /** Parses a transform as a CommonJS module body; undefined when it is well-formed. */
  compile(code: string, tenantId?: string): Promise<CompileError | undefined>;
  state(): TransformPoolState;
  /** Waits for running code, and refuses runs that wait or would have to begin again. */
  close(): Promise<void>;
}

const neverSuspended: SuspensionOptions = { kills: 0, windowMs: 0, suspendMs: 0 };
/** A run that uses this part of its CPU time is slow. */
const slowPart = 0.25;

export function openTransformPool(options: TransformPoolOptions): TransformPool {
  const { limits, threads } = options;
  const slowThreads = Math.max(threads - 2, 1);
  const hostCalls = newHostCalls();
  const suspensions = newSuspensions(options.suspension ?? neverSuspended);
  const schedule = newSchedule<Job>({
    tenantThreads: { quick: options.tenantThreads ?? Math.max(threads - 1, 1), slow: Math.max(slowThreads - 1, 1) },
    queueLimit: options.queueLimit,
    slowMs: limits.cpuMs * slowPart,
  });
  const dispatch = openDispatch(schedule, {
    limits,
    headerPrefix: options.headerPrefix.toLowerCase(),
    counts: { quick: threads, slow: slowThreads },
    waitMs: options.waitMs ?? limits.wallMs,
    listen: hostCalls.listen,
    onFault: options.onFault ?? ((error) => process.emitWarning(`A transform thread broke: ${error}`)),
  });
  const transforms = new WeakMap<object, Record<TransformTask['kind'], Transform>>();
  const used = { runs: 0, cpuMs: 0, durationMs: 0, stops: {} as Partial<Record<Stop, number>> };
  let asked = 0;
  let inThreads = 0;

  function transformOf({ version, kind }: TransformTask): Transform {
    if (!version) return newTransform();
    const found = transforms.get(version) ?? { request: newTransform(), response: newTransform() };
    transforms.set(version, found);
    return found[kind];
  }

  /** No thread waits for the configuration; runs that arrive meanwhile join the batch. */
  async function begin(transform: Transform, batch: Batch): Promise<void> {
    try {
      dispatch.add(jobOf(transform, batch, await batch[0].task.configuration()));
    } catch (error) {
      reject(transform, batch, error);
    }
  }

  function reject(transform: Transform, batch: Batch, error: unknown): void {
    seal(transform, batch);
    asked -= batch.length;
    for (const run of batch) run.reject(error);
  }

  function jobOf(transform: Transform, batch: Batch, configurationJson: string): Job {
    const job: Job = {
      tenantId: batch[0].task.tenantId,
      transform,
      refuse: () => reject(transform, batch, busy()),
      start: async (thread) => {
        seal(transform, batch);
        inThreads += batch.length;
        const quickMs = thread.givesWay ? undefined : schedule.quickMs(job);
        try {
          const end = await sendBatch(batch, thread, { configurationJson, limits, hostCalls, quickMs });
          return () => {
            settle(job, end, configurationJson);
            for (const rest of end.again) dispatch.add(jobOf(transform, rest, configurationJson));
          };
        } catch (error) {
          return () => reject(transform, batch, error);
        } finally {
          inThreads -= batch.length;
        }
      },
    };
    return job;
  }

  function settle(job: Job, { ended, slow, isThreadLost }: BatchEnd, configurationJson: string): void {
    if (isThreadLost) learn(job, undefined);
    for (const answer of slow) {
      learn(job, answer);
      used.cpuMs += answer.cpuMs;
      used.durationMs += answer.durationMs;
    }
    for (const end of ended) settleRun(job, end, configurationJson);
  }

  function settleRun(job: Job, { run, answer, durationMs, result, error }: EndedRun, configurationJson: string): void {
    const { task, askedAt, resolve, reject } = run;
    const limit =
      error instanceof ServiceError && error.cause instanceof TransformStopped ? error.cause.limit : undefined;
    asked -= 1;
    used.runs += 1;
    used.cpuMs += answer?.cpuMs ?? 0;
    used.durationMs += durationMs;
    if (limit) used.stops[limit] = (used.stops[limit] ?? 0) + 1;
    learn(job, answer, limit);
    try {
      const { tenantId, proxyId, kind } = task;
      if (suspensions.ended(task, askedAt, limit)) options.onSuspend?.({ tenantId, proxyId, kind });
      task.onEnd?.({ configurationJson, console: answer?.console ?? [], cpuMs: answer?.cpuMs, durationMs });
    } catch (thrown) {
      reject(thrown); // The other runs of the batch keep their results.
      return;
    }
    if (result) resolve(result);
    else reject(error);
  }

  function learn(job: Job, answer: RunAnswer | undefined, limit?: Stop): void {
    if (schedule.ended(job, answer, limit)) dispatch.openSlowThreads();
  }

  return {
    ready: dispatch.ready,
    run: async (task) => {
      const { promise, resolve, reject } = Promise.withResolvers<TransformResult>();
      const run: Run = { task, askedAt: performance.now(), resolve, reject };
      suspensions.check(task, run.askedAt);
      asked += 1;
      const transform = transformOf(task);
      const batch = joinBatch(transform, run, schedule.runsPerBatch({ tenantId: task.tenantId, transform }));
      if (batch) void begin(transform, batch);
      return promise;
    },
    compile: (code, tenantId = '') => {
      const { promise, resolve, reject } = Promise.withResolvers<CompileError | undefined>();
      const job: Job = {
        tenantId,
        transform: { ...newTransform(), runsPerBatch: 1 }, // it does not wait like new code, because nothing of it runs
        start: async (thread) => {
          try {
            const error = (await thread.run({ name: 'compile', code })) as CompileError | undefined;
            return () => resolve(error);
          } catch (error) {
            if (!(error instanceof ThreadEnded)) return () => reject(error);
            learn(job, undefined);
            return () => reject(stopped(error.limit, limits));
          }
        },
        refuse: () => reject(busy()),
      };
      dispatch.add(job);
      return promise;
    },
    state: () => ({
      threads: dispatch.up(),
      running: schedule.running(),
      waiting: asked - inThreads,
      ...used,
      suspended: suspensions.suspended(),
      ...suspensions.counts,
    }),
    close: dispatch.close,
  };
}
