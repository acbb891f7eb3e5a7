import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire, getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MessagePort, Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { stopped } from './failure.ts';
import type { TransformLimits } from './limits.ts';
import type { BatchTask, ThreadAnswer, ThreadSettings, ThreadStarted } from './thread/messages.ts';
import type { RunAnswer } from './thread/outcome.ts';

/** A thread stops its own work at the limit. If it has not done so after this time, the main thread ends it. */
const graceMs = 100;
/** Between two checks of a thread's CPU time by the main thread. */
const shortestPauseMs = 20;
/** For memory outside QuickJS's own limits: text on its way through the thread, and the native stack. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 16 };

export interface ThreadOptions extends Omit<ThreadSettings, 'quickjs'> {
  /** The thread is up; the port carries the calls of its transforms' clients. */
  onStart(hostCalls: MessagePort): void;
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
  readonly #piscina: Piscina;
  readonly #loaded = Promise.withResolvers<void>();
  #task: Promise<unknown> | undefined;
  /** CPU time of the thread since it began, as last reported. */
  #cpuMs = 0;

  constructor(options: ThreadOptions) {
    const { limits, headerPrefix, givesWay, onFault } = options;
    this.#options = options;
    this.#piscina = new Piscina({
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
      workerData: { limits, headerPrefix, givesWay, quickjs: compileQuickJs() } satisfies ThreadSettings,
      resourceLimits,
    });
    this.#piscina.on('message', ({ hostCalls, cpuMs }: ThreadStarted) => {
      this.#cpuMs = cpuMs;
      this.isUp = true;
      this.#loaded.resolve();
      options.onStart(hostCalls);
    });
    this.#piscina.on('workerDestroy', () => {
      this.isUp = false;
    });
    this.#piscina.on('error', onFault);
  }

  get givesWay(): boolean {
    return this.#options.givesWay;
  }

  get isFree(): boolean {
    return this.isUp && this.#task === undefined;
  }

  /** Resolves when the thread has loaded once, or is closed. */
  loaded(): Promise<void> {
    return this.#loaded.promise;
  }

  /** Keeps others from the thread until `work` is done. */
  async reserve<T>(work: Promise<T>): Promise<T> {
    this.#task = work;
    try {
      return await work;
    } finally {
      this.#task = undefined;
    }
  }

  /**
   * Call it while the thread is free. Beyond the limit of CPU time or duration the thread is ended and replaced,
   * whatever its code is doing. @throws {ServiceError} `transform_failed` or `reactor_failed` then.
   */
  async run(batch: BatchTask): Promise<RunAnswer[]> {
    const { kind, wallMs } = batch;
    const limits = { ...this.#options.limits, wallMs };
    const watch = this.#watch(limits);
    try {
      const task: Promise<ThreadAnswer> = this.#piscina.run(batch, { signal: watch.signal });
      this.#task = task;
      const { answers, error, cpuMs } = await task;
      this.#cpuMs = cpuMs;
      if (error !== undefined) throw error;
      return answers;
    } catch (error) {
      const limit = watch.exceeded() ?? (isOutOfMemory(error) ? 'heapBytes' : undefined);
      throw limit ? stopped(limit, { kind, limits }) : error;
    } finally {
      this.#task = undefined;
      watch.end();
    }
  }

  /** Waits for the task, because piscina would wait forever for a thread that ends during it. */
  async close(): Promise<void> {
    this.#loaded.resolve();
    await Promise.allSettled([this.#task]);
    await this.#piscina.close({ force: true });
  }

  /**
   * Aborts a task, and so ends its thread, at a limit. Necessary for CPU time too, because some built-ins of QuickJS
   * never call the interrupt handler.
   */
  #watch(limits: TransformLimits) {
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
      const [worker] = this.#piscina.threads;
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
