import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire, getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MessagePort, Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { stopped } from './failure.ts';
import { giveBackLargeHeap, type LargeHeaps, type LargeHeapUse } from './large-heaps.ts';
import type { TransformLimits } from './limits.ts';
import type { BatchTask, GiveBackTask, ThreadAnswer, ThreadSettings, ThreadStarted } from './thread/messages.ts';
import type { RunAnswer } from './thread/outcome.ts';
import type { WarmMemory } from './warm-memory.ts';

/** A thread stops its own work at the limit. If it has not done so after this time, the main thread ends it. */
const graceMs = 100;
/** Between two checks of a thread's CPU time by the main thread. */
const shortestPauseMs = 20;
/** For memory outside QuickJS's own limits: text on its way through the thread, and the native stack. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 16 };

/** A thread that has been idle for so long ends, because it would keep its memory. The next run starts it again. */
const longestIdleMs = 10_000;

export interface ThreadOptions extends Omit<ThreadSettings, 'quickjs' | 'largeHeap'> {
  /** Whether the thread stays although it is idle, because others would wait for its start. */
  staysIdle: boolean;
  warm: WarmMemory;
  largeHeaps: LargeHeaps;
  /** Whether its code is neither slow nor waits for destinations. */
  endsSoon: boolean;
  /** The thread is up; the port carries the calls of its transforms' clients. */
  onStart(hostCalls: MessagePort): void;
  /** The thread has given memory back, and is free again. */
  onFree(): void;
  /** The thread broke while idle, or its CPU time could not be read. */
  onFault(error: unknown): void;
}

/**
 * A thread without the process's environment and flags, with its own memory and stack, which is replaced after its end.
 * It is a piscina of one thread, because the CPU time of a task must be that of its thread.
 */
export class Thread {
  isUp = false;
  readonly #options: ThreadOptions;
  readonly #largeHeap: LargeHeapUse;
  /** Undefined while the thread has ended because it was idle. */
  #piscina: Piscina | undefined;
  #loaded = Promise.withResolvers<void>();
  #task: Promise<unknown> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #ending: Promise<void> | undefined;
  /** CPU time of the thread since it began, as last reported. */
  #cpuMs = 0;
  #warmBytes = 0;

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.#largeHeap = options.largeHeaps.forThread(options.endsSoon);
    this.#piscina = this.#start();
  }

  get givesWay(): boolean {
    return this.#options.givesWay;
  }

  /** Whether it has ended because it was idle, so the next run starts it again. */
  get isAsleep(): boolean {
    return this.#piscina === undefined;
  }

  get isFree(): boolean {
    return (this.isUp || this.isAsleep) && this.#task === undefined;
  }

  /** Memory of the instances that stay warm in it, as last reported. */
  get warmBytes(): number {
    return this.#warmBytes;
  }

  /** Resolves when the thread has loaded once, or is closed. */
  loaded(): Promise<void> {
    return this.#loaded.promise;
  }

  /** Keeps others from the thread until `work` is done. */
  async reserve<T>(work: Promise<T>): Promise<T> {
    clearTimeout(this.#idleTimer);
    this.#task = work;
    try {
      return await work;
    } finally {
      this.#task = undefined;
      this.#endLater();
    }
  }

  /**
   * Call it while the thread is free. Beyond the limit of CPU time or duration the thread is ended and replaced,
   * whatever its code is doing. @throws {ServiceError} `transform_failed` or `reactor_failed` then.
   */
  async run(batch: BatchTask): Promise<RunAnswer[]> {
    try {
      return await this.reserve(this.#run(batch));
    } finally {
      this.#options.warm.shrink();
    }
  }

  /** Call it while the thread is free. Its instances keep this much memory; the oldest ones go. */
  async giveBack(keepBytes: number): Promise<void> {
    const piscina = this.#piscina;
    if (!piscina) return;
    this.#warmBytes = keepBytes;
    try {
      await this.reserve(this.#send(piscina, { keepBytes }));
    } catch (error) {
      this.#options.onFault(error);
    }
    this.#options.onFree();
  }

  /** Waits for the task, because piscina would wait forever for a thread that ends during it. */
  async close(): Promise<void> {
    this.#loaded.resolve();
    await Promise.allSettled([this.#task]);
    clearTimeout(this.#idleTimer);
    await this.#piscina?.close({ force: true });
    await this.#ending;
  }

  #start(): Piscina {
    const { limits, headerPrefix, givesWay, onStart, onFault, warm } = this.#options;
    const piscina = new Piscina({
      filename: fileURLToPath(new URL('./thread/worker.ts', import.meta.url)),
      // No default export: Node.js aborts the whole process if a thread is terminated while `require` wraps one.
      name: 'answer',
      minThreads: 1,
      maxThreads: 1,
      maxQueue: 1,
      closeTimeout: limits.wallMs + 1_000,
      recordTiming: false,
      env: threadEnvironment(),
      argv: [],
      execArgv: [],
      workerData: {
        ...{ limits, headerPrefix, givesWay, quickjs: compileQuickJs() },
        largeHeap: this.#largeHeap,
      } satisfies ThreadSettings,
      resourceLimits,
    });
    piscina.on('message', ({ hostCalls, cpuMs }: ThreadStarted) => {
      this.#cpuMs = cpuMs;
      this.isUp = true;
      this.#loaded.resolve();
      onStart(hostCalls);
      this.#endLater();
    });
    piscina.on('workerDestroy', () => {
      this.isUp = false;
      this.#warmBytes = 0;
      warm.remove(this);
      giveBackLargeHeap(this.#largeHeap);
    });
    piscina.on('error', onFault);
    return piscina;
  }

  #endLater(): void {
    clearTimeout(this.#idleTimer);
    if (this.#options.staysIdle || !this.isFree || this.isAsleep) return;
    this.#idleTimer = setTimeout(() => this.#endIdle(), longestIdleMs).unref();
  }

  #endIdle(): void {
    const piscina = this.#piscina;
    if (!piscina || !this.isFree) return;
    this.#piscina = undefined;
    this.isUp = false;
    this.#ending = piscina.close({ force: true }).catch(this.#options.onFault);
  }

  async #wake(): Promise<Piscina> {
    await this.#ending;
    this.#loaded = Promise.withResolvers();
    const piscina = this.#start();
    this.#piscina = piscina;
    await this.#loaded.promise;
    return piscina;
  }

  async #run(batch: BatchTask): Promise<RunAnswer[]> {
    const piscina = this.#piscina ?? (await this.#wake());
    const { kind, wallMs } = batch;
    const limits = { ...this.#options.limits, wallMs };
    const watch = this.#watch(piscina, limits);
    try {
      const { answers, error } = await this.#send(piscina, batch, watch.signal);
      if (error !== undefined) throw error;
      return answers;
    } catch (error) {
      const limit = watch.exceeded() ?? (isOutOfMemory(error) ? 'heapBytes' : undefined);
      throw limit ? stopped(limit, { kind, limits }) : error;
    } finally {
      watch.end();
    }
  }

  async #send(piscina: Piscina, task: BatchTask | GiveBackTask, signal?: EventEmitter): Promise<ThreadAnswer> {
    const answer: ThreadAnswer = await piscina.run(task, signal && { signal });
    this.#cpuMs = answer.cpuMs;
    this.#warmBytes = answer.warmBytes;
    this.#options.warm.used(this);
    return answer;
  }

  /**
   * Aborts a task, and so ends its thread, at a limit. Necessary for CPU time too, because some built-ins of QuickJS
   * never call the interrupt handler.
   */
  #watch(piscina: Piscina, limits: TransformLimits) {
    const { onFault } = this.#options;
    const signal = new EventEmitter();
    const cpuMsBefore = this.#cpuMs;
    let exceeded: 'cpuMs' | 'wallMs' | undefined;
    let isOver = false;
    const abort = (limit: 'cpuMs' | 'wallMs') => {
      exceeded ??= limit;
      signal.emit('abort');
    };
    const lookAtCpu = async () => {
      const [worker] = piscina.threads;
      if (!worker) return;
      try {
        const leftMs = limits.cpuMs + graceMs - ((await cpuMsOf(worker)) - cpuMsBefore);
        if (isOver) return;
        if (leftMs <= 0) abort('cpuMs');
        else cpuTimer = setTimeout(lookAtCpu, Math.max(leftMs, shortestPauseMs));
      } catch (error) {
        onFault(error);
      }
    };
    const wallTimer = setTimeout(abort, limits.wallMs + graceMs, 'wallMs');
    // A thread cannot use more CPU time than passes, so most tasks end before the first check.
    let cpuTimer = setTimeout(lookAtCpu, limits.cpuMs + graceMs);
    return {
      signal,
      exceeded: () => exceeded,
      end: () => {
        isOver = true;
        clearTimeout(wallTimer);
        clearTimeout(cpuTimer);
      },
    };
  }
}

/** 0 for a thread that has just ended, because its task ends with it. */
async function cpuMsOf(worker: Worker): Promise<number> {
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1_000;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_NOT_RUNNING') return 0;
    throw error;
  }
}

let compiled: WebAssembly.Module | undefined;

/** Compiled once for all threads, because it takes the main thread some 10 ms. */
function compileQuickJs(): WebAssembly.Module {
  if (compiled) return compiled;
  const require = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten'));
  compiled = new WebAssembly.Module(readFileSync(require.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')));
  return compiled;
}

/** With Node.js's cache of compiled sources a thread starts in a third of the time. */
function threadEnvironment(): Record<string, string> {
  const directory = getCompileCacheDir();
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
