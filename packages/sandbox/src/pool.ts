import { ServiceError } from '@sluice/problems';
import { type BreakerOptions, type BrokenTransform, newBreaker } from './breaker.ts';
import { stopped, TransformStopped } from './failure.ts';
import { defaultTransformLimits, type TransformLimits } from './limits.ts';
import { busy } from './scheduler.ts';
import type { Stop } from './thread/outcome.ts';
import { openThreadGroup, type ThreadGroup } from './thread-group.ts';
import { ThreadEnded, type Threads } from './threads.ts';
import { newTrackRecord } from './track-record.ts';
import type { CompileError, TransformResult, TransformTask } from './transform-task.ts';
import { newTurnRunner, type Run, type RunEnd } from './turn-runner.ts';
import { newTurns, type Turn } from './turns.ts';

export interface TransformPoolOptions {
  limits: TransformLimits;
  threads: number;
  /** Threads that one Tenant may hold at a time; without it all but one, so that another's turn comes at once. */
  tenantThreads?: number;
  /** Turns that may wait for a thread: one run each, or several of one version of a transform. */
  queueLimit: number;
  /** How long one may wait for its turn; without it as long as a transform may run. */
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
  /** Waits for what runs, refuses what waits, and what turns out to be slow meanwhile. */
  close(): Promise<void>;
}

const neverSuspended: BreakerOptions = { kills: 0, windowMs: 0, openMs: 0 };
/** CPU time of new code: enough for most, and for 1 MiB of JSON on a fast machine. */
const newCodeMs = 50;
/** A run that uses this part of its CPU time is slow, and its Tenant's runs have threads of their own for so long. */
const slowPart = 0.25;
const slowForMs = 60_000;

/** Opens the threads that run transforms. */
export function openTransformPool(options: TransformPoolOptions): TransformPool {
  const { limits } = options;
  const slowMs = limits.cpuMs * slowPart;
  const record = newTrackRecord({ slowMs, newCodeMs: Math.min(newCodeMs, slowMs), memoryMs: slowForMs });
  const breaker = newBreaker(options.breaker ?? neverSuspended);
  const runner = newTurnRunner({ limits, record, breaker, onSuspend: options.onSuspend, isClosed: () => closed });
  const turns = newTurns<Run>((turn, close) => void takeTurn(turn, close));
  let underWay = 0;
  let inThreads = 0;
  let closed = false;
  const shared = {
    limits,
    headerPrefix: options.headerPrefix.toLowerCase(),
    queueLimit: options.queueLimit,
    waitMs: options.waitMs ?? limits.wallMs,
    onStart: runner.listen,
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

  /** Opened when the first run has to give way. */
  function openSlow(): ThreadGroup {
    if (closed) throw busy();
    const count = Math.max(options.threads - 2, 1);
    const share = Math.max(count - 1, 1);
    const shares = { tenant: share, doubtfulOfTenant: share, doubtful: count, doubtfulLast: true };
    slow ??= openThreadGroup({ ...shared, count, givesWay: true, shares: () => shares });
    return slow;
  }

  /** Settles every run of the turn in the end; `close` is called when no other may join it any more. */
  async function takeTurn(turn: Turn<Run>, close: () => void): Promise<void> {
    try {
      // No thread waits for it; who joins meanwhile has the same.
      const configurationJson = await turn[0].task.configuration();
      const { ends, again } = await inTurn(turn[0].task, async (threads) => {
        close();
        inThreads += turn.length;
        try {
          return await runner.run(turn, configurationJson, threads);
        } finally {
          inThreads -= turn.length;
        }
      });
      for (const end of ends) settle(end);
      for (const rest of again) void takeTurn(rest, () => {});
    } catch (error) {
      close();
      for (const run of turn) settle({ run, error });
    }
  }

  /** A Tenant may have become slow while its turn waited. */
  async function inTurn<T>({ tenantId, code }: TransformTask, work: (threads: Threads) => Promise<T>): Promise<T> {
    const givesWay = () => record.givesWay(tenantId, code);
    if (!givesWay()) {
      const isDoubtful = () => !givesWay() && !record.isKnown(tenantId, code);
      const done = await quick.schedule({ tenantId, isDoubtful }, async (threads) =>
        givesWay() ? undefined : { value: await work(threads) },
      );
      if (done) return done.value;
    }
    return openSlow().schedule({ tenantId, isDoubtful: () => record.isSlow(tenantId) }, work);
  }

  function settle({ run, result, error }: RunEnd): void {
    underWay -= 1;
    if (result) run.resolve(result);
    else run.reject(error);
  }

  async function compile(threads: Threads, code: string): Promise<CompileError | undefined> {
    try {
      return (await threads.run('compile', code)) as CompileError | undefined;
    } catch (error) {
      if (error instanceof ThreadEnded) throw stopped(error.limit, limits);
      throw closed ? busy() : error;
    }
  }

  return {
    ready: quick.ready,
    run: async (task) => {
      breaker.check(task);
      const { promise, resolve, reject } = Promise.withResolvers<TransformResult>();
      underWay += 1;
      turns.add({ task, resolve, reject }, record.runsOfTurn(task.tenantId, task.code));
      return promise;
    },
    compile: (code, tenantId = '') =>
      quick.schedule({ tenantId, isDoubtful: () => true }, (threads) => compile(threads, code)),
    state: () => ({
      threads: quick.up + (slow?.up ?? 0),
      running: quick.running + (slow?.running ?? 0),
      waiting: underWay - inThreads,
      ...runner.counts,
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
