import type { MessagePort } from 'node:worker_threads';
import { ServiceError } from '@sluice/problems';
import { type Batch, joinBatch, type Run, type RunEnd, seal, sendBatch, type Transform } from './batch.ts';
import { TransformStopped } from './failure.ts';
import { HostCalls } from './host-calls.ts';
import { LargeHeaps } from './large-heaps.ts';
import type { TransformLimits } from './limits.ts';
import { type Group, Schedule } from './schedule.ts';
import { type SuspendedTransform, type SuspensionOptions, Suspensions } from './suspension.ts';
import type { Stop } from './thread/outcome.ts';
import { Thread } from './threads.ts';
import type { CompileError, TransformResult, TransformTask } from './transform-task.ts';
import { WarmMemory } from './warm-memory.ts';

export interface TransformPoolOptions {
  limits: TransformLimits;
  /** A Tenant may use all but one of them, so that another is served at once. Slow work has further threads. */
  threads: number;
  /** The threads start with the first run, because many installations never run code. */
  startsLater?: boolean;
  /** Otherwise a thread that is idle for ten seconds ends, and the next run waits until it has started again. */
  keepsThreads?: boolean;
  /** Shared by all pools of a process. Without it only the limits of each thread apply. */
  warm?: WarmMemory;
  /** Shared by all pools of a process. Without it every run may have a large heap at any time. */
  largeHeaps?: LargeHeaps;
  /**
   * The caller begins no more runs than there are threads, and gives each Tenant its share. So new code may use all threads,
   * and there are as many for slow work.
   */
  everyRunHasSlot?: boolean;
  /** Most batches that may wait for a thread. */
  queueLimit: number;
  /** Default: as long as a transform may run. */
  waitMs?: number;
  /** For example `SVC`: then the client is `req.svc` and the module of errors `svc-errors`. */
  headerPrefix: string;
  /** Without it a transform is never suspended. */
  suspension?: SuspensionOptions;
  onSuspend?(transform: SuspendedTransform): void;
  /** Called if an idle thread broke; it is replaced. */
  onFault?(error: unknown): void;
}

export interface TransformPoolState {
  /** Without those that have ended because they were idle. */
  threads: number;
  running: number;
  waiting: number;
  /** Runs that ended, and their use. The CPU time of killed threads is unknown. */
  runs: number;
  cpuMs: number;
  durationMs: number;
  stops: Readonly<Partial<Record<Stop, number>>>;
  /** Transforms that are suspended now, the suspensions so far, and the runs that they refused. */
  suspended: number;
  suspensions: number;
  suspendedRuns: number;
  /** Memory of the instances that stay warm. */
  warmBytes: number;
}

export interface TransformPool {
  /** Resolves when every thread has loaded once, or the pool is closed. Until then runs wait. */
  ready(): Promise<void>;
  /**
   * Settles once the calls that the run began have ended, or its time is up. Rejects with a ServiceError
   * `transform_failed` or `reactor_failed`, with the code of an error of the module `svc-errors`, or `unavailable` if
   * too much waits; or with a `CustomHttpResponse`. The cause is a `TransformStopped` after a limit, a `TransformThrew`
   * after an error of the code, and a `TransformSuspended` during a suspension.
   */
  run(task: TransformTask): Promise<TransformResult>;
  /** Parses a transform as a CommonJS module body; undefined when it is well-formed. */
  compile(code: string, tenantId?: string): Promise<CompileError | undefined>;
  state(): TransformPoolState;
  /** Whether code of this Tenant took much CPU time, or was killed, within the last minute. */
  isSlow(tenantId: string): boolean;
  /** Waits for running code and the calls of ended runs. Refuses runs that wait or would have to begin again. */
  close(): Promise<void>;
}

const neverSuspended: SuspensionOptions = { kills: 0, windowMs: 0, suspendMs: 0 };
const unknownCode = (): Transform => ({ runsPerBatch: 0 });
/** A run that uses this part of its CPU time is slow. */
const slowPart = 0.25;

const configuration = async () => '{}';
const parsing = { ownerId: '', kind: 'request', argsJson: '', configuration, parseOnly: true } as const;

/** The methods are in the order in which a run passes through them. */
export function openTransformPool(options: TransformPoolOptions): TransformPool {
  const { limits, queueLimit, waitMs = limits.wallMs, warm = new WarmMemory(Number.POSITIVE_INFINITY) } = options;
  const { largeHeaps = new LargeHeaps(4 * options.threads + 1) } = options; // For a Tenant as many as it has threads.
  const headerPrefix = options.headerPrefix.toLowerCase();
  const onFault = options.onFault ?? ((error) => process.emitWarning(`A transform thread broke: ${error}`));
  const hostCalls = new HostCalls();
  const suspensions = new Suspensions(options.suspension ?? neverSuspended);
  const schedule = new Schedule<Batch>(limits.cpuMs * slowPart, { everyRunHasSlot: options.everyRunHasSlot });
  const threads: Record<Group, Thread[]> = { quick: [], slow: [] };
  const transforms = new WeakMap<object, Record<TransformTask['kind'], Transform>>();
  const used = { runs: 0, cpuMs: 0, durationMs: 0, stops: {} as Partial<Record<Stop, number>> };
  const finishing = new Set<Promise<void>>();
  let waiting = 0;
  let isClosed = false;

  function openThreads(count: number, givesWay: boolean): Thread[] {
    const onStart = (port: MessagePort) => {
      hostCalls.listen(port);
      runNext();
    };
    const staysIdle = options.keepsThreads ?? false;
    const endsSoon = !givesWay && !options.everyRunHasSlot;
    const memory = { warm, largeHeaps, endsSoon };
    const settings = { limits, headerPrefix, givesWay, staysIdle, ...memory, onStart, onFree: runNext, onFault };
    return Array.from({ length: count }, () => new Thread(settings));
  }

  function startThreads(): void {
    if (threads.quick.length === 0) threads.quick = openThreads(options.threads, false);
  }

  const up = (group: Group) => threads[group].filter(({ isUp }) => isUp).length;
  const usable = (group: Group) => threads[group].filter(({ isUp, isAsleep }) => isUp || isAsleep).length;

  async function run(task: TransformTask): Promise<TransformResult> {
    const { promise, resolve, reject } = Promise.withResolvers<TransformResult>();
    const run: Run = { task, askedAt: performance.now(), resolve, reject };
    suspensions.check(task, run.askedAt);
    startThreads();
    const transform = transformOf(task);
    const most = schedule.runsPerBatch({ tenantId: task.tenantId, transform });
    const batch = joinBatch(transform, run, most);
    waiting += 1;
    if (batch) void begin(batch);
    return promise;
  }

  function transformOf({ version, kind, parseOnly }: TransformTask): Transform {
    if (!version) return { runsPerBatch: parseOnly ? 1 : 0 }; // None of its code runs, so it does not wait like new code.
    const found = transforms.get(version) ?? {
      request: unknownCode(),
      response: unknownCode(),
      reactor: unknownCode(),
    };
    transforms.set(version, found);
    return found[kind];
  }

  /** The configuration is read before a thread is taken; runs that arrive until then join the batch. */
  async function begin(batch: Batch): Promise<void> {
    try {
      batch.configurationJson = await batch.runs[0].task.configuration();
      add(batch);
    } catch (error) {
      refuse(batch, error);
    }
  }

  function add(batch: Batch): void {
    if (isClosed) {
      refuse(batch);
      return;
    }
    schedule.add(batch);
    batch.timer = setTimeout(() => {
      if (schedule.remove(batch)) refuse(batch);
    }, waitMs);
    runNext();
    const evicted = schedule.evict(queueLimit);
    if (evicted) refuse(evicted);
  }

  function refuse(batch: Batch, error: unknown = busy()): void {
    endWaiting(batch);
    for (const run of batch.runs) run.reject(error);
  }

  function endWaiting(batch: Batch): void {
    clearTimeout(batch.timer);
    seal(batch);
    waiting -= batch.runs.length;
  }

  /** Takes the first free thread, because instances stay warm in the threads that are used. */
  function runNext(): void {
    for (const group of ['quick', 'slow'] as const) {
      for (const thread of threads[group]) {
        if (!thread.isFree) continue;
        const batch = schedule.next(group, usable(group));
        if (!batch) break;
        void send(batch, thread);
      }
    }
  }

  async function send(batch: Batch, thread: Thread): Promise<void> {
    endWaiting(batch);
    const looked = batch.runs.map(lookAt);
    const mayBegin = looked.some((one) => one instanceof Promise) ? await thread.reserve(Promise.all(looked)) : looked;
    const [run, ...more] = batch.runs.filter((_, index) => mayBegin[index]);
    const quickMs = thread.givesWay ? undefined : schedule.quickMs(batch);
    const begun = run && (await sendBatch({ ...batch, runs: [run, ...more] }, thread, { limits, hostCalls, quickMs }));
    const { ends, givenBack } = begun ?? { ends: [], givenBack: [] };
    schedule.release(batch);
    for (const end of ends) {
      learn(batch, end);
      if ('result' in end || 'error' in end) settle(end, batch.configurationJson);
      else addAgain(batch, [end.run]);
    }
    const [first, ...others] = givenBack;
    if (first) addAgain(batch, [first, ...others]);
    runNext();
  }

  /** Returns false for a run that may no longer begin, and rejects it. */
  function lookAt({ task, reject }: Run): boolean | Promise<boolean> {
    const refuse = (error: unknown) => {
      reject(error);
      return false;
    };
    try {
      task.signal?.throwIfAborted();
      return task.look?.()?.then(() => true, refuse) ?? true;
    } catch (error) {
      return refuse(error);
    }
  }

  function learn(batch: Batch, { answer, durationMs, error }: RunEnd): void {
    const limit = limitOf(error);
    used.cpuMs += answer?.cpuMs ?? 0;
    used.durationMs += durationMs;
    if (limit) used.stops[limit] = (used.stops[limit] ?? 0) + 1;
    const isSlow = schedule.ended(batch, answer, limit);
    if (!isSlow || threads.slow.length > 0) return;
    threads.slow = openThreads(options.everyRunHasSlot ? options.threads : Math.max(options.threads - 2, 1), true);
  }

  function addAgain(batch: Batch, runs: Batch['runs']): void {
    waiting += runs.length;
    add({ ...batch, runs });
  }

  function settle(end: RunEnd, configurationJson: string): void {
    const { run, answer, durationMs, result, error, calls } = end;
    const { task, askedAt, resolve, reject } = run;
    used.runs += 1;
    try {
      const { tenantId, ownerId, kind } = task;
      if (suspensions.ended(task, askedAt, limitOf(error))) options.onSuspend?.({ tenantId, ownerId, kind });
      task.onEnd?.({ configurationJson, console: answer?.console ?? [], cpuMs: answer?.cpuMs, durationMs });
    } catch (thrown) {
      reject(thrown); // The other runs of the batch keep their results.
      return;
    }
    const tell = () => (result ? resolve(result) : reject(error));
    if (calls) tellAfter(calls, { tell, mostMs: (task.wallMs ?? limits.wallMs) - durationMs });
    else tell();
  }

  /**
   * The invocation keeps its slot and its memory until the unfinished calls of its run have ended; the thread is free.
   */
  function tellAfter(calls: Promise<void>, { tell, mostMs }: { tell: () => void; mostMs: number }): void {
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, Math.max(mostMs, 0));
    const finished = Promise.race([calls, timeout.promise]).then(() => {
      clearTimeout(timer);
      finishing.delete(finished);
      tell();
    });
    finishing.add(finished);
  }

  if (!options.startsLater) startThreads();

  return {
    ready: async () => {
      startThreads();
      await Promise.all(threads.quick.map((thread) => thread.loaded()));
    },
    run,
    compile: async (code, tenantId = '') => {
      const { bodyJson } = await run({ ...parsing, tenantId, code });
      return bodyJson === undefined ? undefined : (JSON.parse(bodyJson) as CompileError);
    },
    state: () => ({
      threads: up('quick') + up('slow'),
      running: schedule.running(),
      waiting,
      ...used,
      suspended: suspensions.suspended(),
      ...suspensions.counts,
      warmBytes: [...threads.quick, ...threads.slow].reduce((sum, { warmBytes }) => sum + warmBytes, 0),
    }),
    isSlow: (tenantId) => schedule.isSlow(tenantId),
    close: async () => {
      isClosed = true;
      for (let batch = schedule.evict(0); batch; batch = schedule.evict(0)) refuse(batch);
      await Promise.all([...threads.quick, ...threads.slow].map((thread) => thread.close()));
      await Promise.all(finishing);
    },
  };
}

const busy = () =>
  new ServiceError('unavailable', 'The code cannot run now, because all threads are busy; try again', {
    retryAfterSeconds: 1,
  });

const limitOf = (error: unknown): Stop | undefined =>
  error instanceof ServiceError && error.cause instanceof TransformStopped ? error.cause.limit : undefined;
