import { readFileSync } from 'node:fs';
import { createRequire, getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { type MessagePort, Worker } from 'node:worker_threads';
import type { ThreadAnswer, ThreadSettings, ThreadStarted, ThreadTask } from './thread/messages.ts';

/** A thread stops its own work at the limit; the main thread ends a thread that has not done so this much later. */
const graceMs = 100;
/** The main thread looks no more often than this at the CPU time of a thread. */
const shortestPauseMs = 20;
/** A thread that ended before it was up is started again only after this long. */
const pauseAfterFailureMs = 1_000;
/** What QuickJS's own limits do not cover: text on its way through the thread, and the native stack below them. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 16 };

export interface ThreadOptions extends Omit<ThreadSettings, 'quickjs'> {
  /** It is up: the port for the calls of its transforms' clients. */
  onStart(hostCalls: MessagePort): void;
  /** It broke while it had nothing to do, or its CPU time could not be asked for. */
  onFault(error: unknown): void;
}

/** The thread was ended at a limit, or ended itself because it had no memory left. */
export class ThreadEnded extends Error {
  readonly limit: 'cpuMs' | 'wallMs' | 'heapBytes';

  constructor(limit: ThreadEnded['limit']) {
    super(`Thread ended: ${limit}`);
    this.name = 'ThreadEnded';
    this.limit = limit;
  }
}

/** The task that a thread is at. */
interface CurrentTask {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
  /** The CPU time of the thread before. */
  cpuMsBefore: number;
  wallTimer: NodeJS.Timeout;
  cpuTimer: NodeJS.Timeout;
}

/**
 * A thread that sees nothing of the process's environment and flags, and has memory and stack of its own; after its end
 * the one that takes its place.
 */
export class Thread {
  /** Whether it has loaded. */
  isUp = false;
  readonly #options: ThreadOptions;
  #worker: Worker | undefined;
  #task: CurrentTask | undefined;
  /** Its CPU time, as it said last. */
  #cpuMs = 0;
  #isClosed = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.#start();
  }

  get givesWay(): boolean {
    return this.#options.givesWay;
  }

  get isFree(): boolean {
    return this.isUp && this.#task === undefined;
  }

  /**
   * To be called while it is free. Beyond the limit of CPU time or wall clock it is ended and replaced, whatever its code is
   * doing: rejects with a {@link ThreadEnded}.
   */
  run(task: ThreadTask): Promise<unknown> {
    const { limits } = this.#options;
    this.#worker?.postMessage(task);
    this.#worker?.ref();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const wallTimer = setTimeout(() => this.#end('wallMs'), limits.wallMs + graceMs);
    // A thread cannot use more CPU time than passes, so most tasks are over before the first look.
    const cpuTimer = setTimeout(() => this.#lookAtCpu(), limits.cpuMs + graceMs);
    this.#task = { resolve, reject, cpuMsBefore: this.#cpuMs, wallTimer, cpuTimer };
    return promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  #start(): void {
    if (this.#isClosed) return;
    const { limits, headerPrefix, givesWay, onStart } = this.#options;
    const workerData: ThreadSettings = { limits, headerPrefix, givesWay, quickjs: compileQuickJs() };
    const given = { env: threadEnvironment(), argv: [], execArgv: [], workerData, resourceLimits };
    const worker = new Worker(new URL('./thread/worker.ts', import.meta.url), given);
    this.#worker = worker;
    worker.once('message', ({ hostCalls, cpuMs }: ThreadStarted) => {
      worker.on('message', (answer: ThreadAnswer) => this.#settle(worker, answer));
      worker.unref(); // an idle thread does not keep the process
      this.#cpuMs = cpuMs;
      this.isUp = true;
      onStart(hostCalls);
    });
    worker.on('error', (error) => this.#replace(worker, isOutOfMemory(error) ? new ThreadEnded('heapBytes') : error));
    worker.on('exit', () => this.#replace(worker, new Error('The thread has ended')));
  }

  #settle(worker: Worker, { value, error, cpuMs }: ThreadAnswer): void {
    if (worker !== this.#worker) return;
    this.#cpuMs = cpuMs;
    worker.unref();
    const task = this.#takeTask();
    if (error === undefined) task?.resolve(value);
    else task?.reject(error);
  }

  #takeTask(): CurrentTask | undefined {
    const task = this.#task;
    this.#task = undefined;
    clearTimeout(task?.wallTimer);
    clearTimeout(task?.cpuTimer);
    return task;
  }

  #end(limit: ThreadEnded['limit']): void {
    const worker = this.#worker;
    if (!worker) return;
    this.#replace(worker, new ThreadEnded(limit));
    void worker.terminate();
  }

  #replace(worker: Worker, error: unknown): void {
    if (worker !== this.#worker) return;
    const hadStarted = this.isUp;
    this.#worker = undefined;
    this.isUp = false;
    const task = this.#takeTask();
    if (task) task.reject(error);
    else if (!this.#isClosed) this.#options.onFault(error);
    if (hadStarted) this.#start();
    else setTimeout(() => this.#start(), pauseAfterFailureMs);
  }

  /**
   * Ends a task that has used too much CPU time, because a built-in of QuickJS that never asks for interrupts cannot be
   * stopped from within.
   */
  async #lookAtCpu(): Promise<void> {
    const { limits, onFault } = this.#options;
    const task = this.#task;
    const worker = this.#worker;
    if (!task || !worker) return;
    try {
      const usedMs = (await cpuMsOf(worker)) - task.cpuMsBefore;
      if (task !== this.#task) return;
      const leftMs = limits.cpuMs + graceMs - usedMs;
      if (leftMs <= 0) this.#end('cpuMs');
      else task.cpuTimer = setTimeout(() => this.#lookAtCpu(), Math.max(leftMs, shortestPauseMs));
    } catch (error) {
      onFault(error);
    }
  }
}

/** 0 for a thread that ends meanwhile, because its task ends with it. */
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

/** Compiled once for all threads of the process, which share the machine code: it takes the main thread some 10 ms. */
function compileQuickJs(): WebAssembly.Module {
  if (compiled) return compiled;
  const require = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten'));
  compiled = new WebAssembly.Module(readFileSync(require.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')));
  return compiled;
}

/** Where Node.js keeps compiled sources, if it does: a thread then starts in a third of the time. */
function threadEnvironment(): Record<string, string> {
  const directory = getCompileCacheDir();
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
