import { ServiceError } from '@sluice/problems';
import { type BreakerOptions, type BrokenTransform, newBreaker } from './breaker.ts';
import { stopped, TransformStopped, toError } from './failure.ts';
import { newHostCalls } from './host-calls.ts';
import { defaultTransformLimits, type TransformLimits } from './limits.ts';
import { busy } from './scheduler.ts';
import type { RunTask } from './thread/messages.ts';
import type { Stop, TaskAnswer } from './thread/outcome.ts';
import { openThreadGroup, type ThreadGroup } from './thread-group.ts';
import { ThreadEnded, type Threads } from './threads.ts';
import { newTrackRecord } from './track-record.ts';
import type { CompileError, TransformResult, TransformTask } from './transform-task.ts';

export interface TransformPoolOptions {
  limits: TransformLimits;
  threads: number;
  /** Threads that one Tenant may hold at a time; without it all but one, so that another's turn comes at once. */
  tenantThreads?: number;
  /** Tasks that may wait for a thread. */
  queueLimit: number;
  /** How long a task may wait for its turn; without it as long as a transform may run. */
  waitMs?: number;
  /** For example `SVC`: then the client is `req.svc` and the module of errors `svc-errors`. */
  headerPrefix: string;
  /** Without it a transform runs on however often it is killed. */
  breaker?: BreakerOptions;
  /** A transform was killed so often that it is not run for a while. */
  onSuspend?(transform: BrokenTransform): void;
  /** A thread broke outside of any task; it is replaced. */
  onFault?(error: unknown): void;
}

/** What a pool is doing. */
export interface TransformPoolState {
  /** Threads that are up, busy or not. */
  threads: number;
  running: number;
  waiting: number;
  /** Runs that ended, and what they used together: CPU time is not known of threads that were ended. */
  runs: number;
  cpuMs: number;
  durationMs: number;
  /** Runs that were stopped, by the limit. */
  stops: Readonly<Partial<Record<Stop, number>>>;
  /** Transforms that are not run for now, how often that began, and how many runs were refused for it. */
  suspended: number;
  suspensions: number;
  suspendedRuns: number;
}

export interface TransformPool {
  /** Resolves when every thread has loaded once, or the pool is closed. Until then tasks wait in the queue. */
  ready(): Promise<void>;
  /**
   * Runs a transform. Rejects with a ServiceError `transform_failed`, with the code of an error of the module
   * `svc-errors`, or `unavailable` when too much waits; or with a `CustomHttpResponse`. After a limit the cause is a
   * `TransformStopped`, after an error of the code a `TransformThrew`, while its breaker is open a `TransformSuspended`.
   */
  run(task: TransformTask): Promise<TransformResult>;
  /** Parses a transform as a CommonJS module body, in the turn of the Tenant. Undefined when it is well-formed. */
  compile(code: string, tenantId?: string): Promise<CompileError | undefined>;
  state(): TransformPoolState;
  /** Waits for what runs, refuses what waits. */
  close(): Promise<void>;
}

const neverSuspended: BreakerOptions = { kills: 0, windowMs: 0, openMs: 0 };
/** A run that uses this part of its CPU time is slow, and its Tenant's runs have threads of their own for so long. */
const slowPart = 0.25;
const slowForMs = 60_000;

/** Opens the threads that run transforms. */
export function openTransformPool(options: TransformPoolOptions): TransformPool {
  const { limits } = options;
  const hostCalls = newHostCalls();
  const record = newTrackRecord({ slowMs: limits.cpuMs * slowPart, memoryMs: slowForMs });
  const breaker = newBreaker(options.breaker ?? neverSuspended);
  const stops: Partial<Record<Stop, number>> = {};
  const used = { runs: 0, cpuMs: 0, durationMs: 0 };
  let closed = false;
  const shared = {
    limits,
    headerPrefix: options.headerPrefix.toLowerCase(),
    queueLimit: options.queueLimit,
    waitMs: options.waitMs ?? limits.wallMs,
    onStart: hostCalls.listen,
    onFault: options.onFault ?? ((error: unknown) => process.emitWarning(`A transform thread broke: ${error}`)),
  };
  const tenant = options.tenantThreads ?? Math.max(options.threads - 1, 1);
  const quick = openThreadGroup({
    ...shared,
    count: options.threads,
    givesWay: false,
    shares: (up) => ({ tenant, doubtfulOfTenant: Math.max(up - 2, 1), doubtful: Math.max(up - 1, 1) }),
  });
  let slow: ThreadGroup | undefined;

  /** Opened when the first Tenant was slow. */
  function openSlow(): ThreadGroup {
    if (closed) throw busy();
    const count = Math.max(options.threads - 2, 1);
    const share = Math.max(count - 1, 1);
    const shares = { tenant: share, doubtfulOfTenant: share, doubtful: share };
    slow ??= openThreadGroup({ ...shared, count, givesWay: true, shares: () => shares });
    return slow;
  }

  /** A Tenant may have become slow while its task waited. */
  async function runInTurn(task: TransformTask): Promise<TransformResult> {
    const { tenantId, code } = task;
    const isSlow = () => record.isSlow(tenantId);
    if (!isSlow()) {
      const isDoubtful = () => !isSlow() && !record.isKnown(tenantId, code);
      const result = await quick.schedule({ tenantId, isDoubtful }, async (threads) =>
        isSlow() ? undefined : runCounted(task, threads),
      );
      if (result) return result;
    }
    return openSlow().schedule({ tenantId, isDoubtful: () => false }, (threads) => runCounted(task, threads));
  }

  async function runInThread(threads: Threads, name: 'run' | 'compile', task: RunTask | string): Promise<unknown> {
    try {
      return await threads.run(name, task);
    } catch (error) {
      if (error instanceof ThreadEnded) throw stopped(error.limit, limits);
      throw closed ? busy() : error;
    }
  }

  async function runTask(
    { host, onEnd, configuration, ...task }: TransformTask,
    threads: Threads,
  ): Promise<TransformResult> {
    const startedAt = performance.now();
    const hostKey = host && hostCalls.open(host);
    let answer: TaskAnswer | undefined;
    try {
      const { tenantId, proxyId, kind, code, argsJson, once = false } = task;
      const configurationJson = JSON.stringify(configuration);
      const message: RunTask = { tenantId, proxyId, kind, code, argsJson, configurationJson, once, hostKey };
      answer = (await runInThread(threads, 'run', message)) as TaskAnswer;
      const { outcome, cpuMs } = answer;
      if (outcome.kind !== 'result') throw toError(outcome, limits);
      const { bodyJson, headersJson } = outcome;
      return { bodyJson, headersJson, cpuMs, durationMs: performance.now() - startedAt };
    } finally {
      if (hostKey !== undefined) hostCalls.close(hostKey);
      const { console = [], cpuMs } = answer ?? {};
      if (!closed) record.ended(task.tenantId, task.code, answer);
      const durationMs = performance.now() - startedAt;
      used.runs += 1;
      used.cpuMs += cpuMs ?? 0;
      used.durationMs += durationMs;
      onEnd?.({ console, cpuMs, durationMs });
    }
  }

  /** Tells the breaker and the counters how it went. */
  async function runCounted(task: TransformTask, threads: Threads): Promise<TransformResult> {
    try {
      const result = await runTask(task, threads);
      breaker.ended(task, undefined);
      return result;
    } catch (error) {
      const limit = limitOf(error);
      if (limit) stops[limit] = (stops[limit] ?? 0) + 1;
      if (breaker.ended(task, limit)) {
        const { tenantId, proxyId, kind } = task;
        options.onSuspend?.({ tenantId, proxyId, kind });
      }
      throw error;
    }
  }

  return {
    ready: quick.ready,
    run: async (task) => {
      breaker.check(task);
      return runInTurn(task);
    },
    compile: (code, tenantId = '') =>
      quick.schedule(
        { tenantId, isDoubtful: () => true },
        async (threads) => (await runInThread(threads, 'compile', code)) as CompileError | undefined,
      ),
    state: () => ({
      threads: quick.up + (slow?.up ?? 0),
      running: quick.running + (slow?.running ?? 0),
      waiting: quick.waiting + (slow?.waiting ?? 0),
      ...used,
      stops,
      suspended: breaker.open,
      suspensions: breaker.trips,
      suspendedRuns: breaker.refusals,
    }),
    close: async () => {
      closed = true;
      await Promise.all([quick.close(), slow?.close()]);
    },
  };
}

function limitOf(error: unknown): Stop | undefined {
  return error instanceof ServiceError && error.cause instanceof TransformStopped ? error.cause.limit : undefined;
}

/**
 * Syntax check of a transform as a CommonJS module body, in a thread of its own that is gone afterwards: for those who
 * have no pool (70 ms or so). Undefined when it is well-formed; code that takes more than 2 s to parse is not.
 */
export async function compileTransform(code: string): Promise<CompileError | undefined> {
  const limits = { ...defaultTransformLimits, wallMs: 2_000 };
  const pool = openTransformPool({ limits, threads: 1, queueLimit: 1, headerPrefix: '' });
  try {
    await pool.ready();
    return await pool.compile(code);
  } catch (error) {
    if (!(error instanceof ServiceError && error.cause instanceof TransformStopped)) throw error;
    return { message: error.detail, line: 1, column: 1 };
  } finally {
    await pool.close();
  }
}
