import { ServiceError } from '@sluice/problems';
import { stopped, TransformStopped, toError } from './failure.ts';
import { newFairQueue } from './fair-queue.ts';
import { newHostCalls } from './host-calls.ts';
import { defaultTransformLimits, type TransformLimits } from './limits.ts';
import type { RunTask } from './thread/messages.ts';
import type { TaskAnswer } from './thread/outcome.ts';
import { openThreads, ThreadEnded } from './threads.ts';
import type { CompileError, ConsoleEntry, TransformResult, TransformTask } from './transform-task.ts';

/** How much later than the thread itself the main thread ends a task: it then ends the thread. */
const graceMs = 100;

export interface TransformPoolOptions {
  limits: TransformLimits;
  threads: number;
  /** Tasks that may wait for a thread. */
  queueLimit: number;
  /** For example `SVC`: then the client is `req.svc` and the module of errors `svc-errors`. */
  headerPrefix: string;
  /** Gets what transforms print; nothing of a task whose thread had to be ended. */
  onConsole?(entry: ConsoleEntry): void;
  /** A thread broke outside of any task; it is replaced. */
  onFault?(error: unknown): void;
}

export interface TransformPool {
  /** Resolves when every thread has loaded once, or the pool is closed. Until then tasks wait in the queue. */
  ready(): Promise<void>;
  /**
   * Runs a transform. Rejects with a ServiceError `transform_failed`, with the code of an error of the module
   * `svc-errors`, or `unavailable` when too much waits; or with a `CustomHttpResponse`. After a limit the cause is a
   * `TransformStopped`.
   */
  run(task: TransformTask): Promise<TransformResult>;
  /** Parses a transform as a CommonJS module body. Undefined when it is well-formed. */
  compile(code: string): Promise<CompileError | undefined>;
  /** Waits for what runs, refuses what waits. */
  close(): Promise<void>;
}

interface Job {
  tenantId: string;
  /** `release` is called before the caller gets the answer. */
  start(release: () => void): void;
  /** Only while it waits. */
  refuse(): void;
}

/** Opens the threads that run transforms. */
export function openTransformPool(options: TransformPoolOptions): TransformPool {
  const { limits, queueLimit, onConsole } = options;
  const headerPrefix = options.headerPrefix.toLowerCase();
  const hostCalls = newHostCalls();
  const loaded = Promise.withResolvers<void>();
  const threads = openThreads({
    count: options.threads,
    limits,
    headerPrefix,
    onStart: (port) => {
      hostCalls.listen(port);
      if (threads.up >= options.threads) loaded.resolve();
      startNext();
    },
    onFault: options.onFault ?? ((error) => process.emitWarning(`A transform thread broke: ${error}`)),
  });
  const queue = newFairQueue<Job>();
  let running = 0;
  let closed = false;

  function startNext(): void {
    while (running < threads.up) {
      const job = queue.take();
      if (!job) return;
      running += 1;
      job.start(() => {
        running -= 1;
        queue.finish(job);
        startNext();
      });
    }
  }

  /** Its turn comes at once when a thread is free; it does not wait longer than a transform may run. */
  function enqueue<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    if (closed || (running >= threads.up && queue.size >= queueLimit)) return Promise.reject(busy());
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let timer: NodeJS.Timeout | undefined;
    const refuse = () => {
      if (queue.remove(job)) reject(busy());
    };
    const job: Job = {
      tenantId,
      refuse,
      start: (release) => {
        clearTimeout(timer);
        void work().finally(release).then(resolve, reject);
      },
    };
    queue.add(job);
    startNext();
    if (queue.has(job)) timer = setTimeout(refuse, limits.wallMs);
    return promise;
  }

  async function runInThread(name: 'run' | 'compile', task: RunTask | string): Promise<unknown> {
    try {
      return await threads.run(name, task, limits.wallMs + graceMs);
    } catch (error) {
      if (error instanceof ThreadEnded) throw stopped(error.limit, limits);
      throw closed ? busy() : error;
    }
  }

  async function runTask({ host, configuration, ...task }: TransformTask): Promise<TransformResult> {
    const startedAt = performance.now();
    const hostKey = host && hostCalls.open(host);
    try {
      const { tenantId, proxyId, kind, code, argsJson } = task;
      const message: RunTask = {
        tenantId,
        proxyId,
        kind,
        code,
        argsJson,
        configurationJson: JSON.stringify(configuration),
        hostKey,
      };
      const { outcome, cpuMs, console } = (await runInThread('run', message)) as TaskAnswer;
      if (onConsole) for (const line of console) onConsole({ tenantId, proxyId, kind, ...line });
      if (outcome.kind !== 'result') throw toError(outcome, limits);
      const { bodyJson, headersJson } = outcome;
      return { bodyJson, headersJson, cpuMs, durationMs: performance.now() - startedAt };
    } finally {
      if (hostKey !== undefined) hostCalls.close(hostKey);
    }
  }

  return {
    ready: () => loaded.promise,
    run: (task) => enqueue(task.tenantId, () => runTask(task)),
    compile: (code) => enqueue('', async () => (await runInThread('compile', code)) as CompileError | undefined),
    close: async () => {
      closed = true;
      loaded.resolve();
      for (const job of queue.waiting()) job.refuse();
      await threads.close();
    },
  };
}

const busy = () =>
  new ServiceError('unavailable', 'Too many transforms are running; try again', { retryAfterSeconds: 1 });

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
