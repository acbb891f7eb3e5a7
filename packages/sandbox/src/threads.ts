import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire, getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MessagePort, Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { ThreadAnswer, ThreadSettings, ThreadStarted, ThreadTask } from './thread/messages.ts';

/** A thread stops its own work at the limit. If it has not done so after this, the main thread ends it. */
const graceMs = 100;
/** Between two looks of the main thread at a thread's CPU time. */
const shortestPauseMs = 20;
/** For what QuickJS's own limits do not cover: text on its way through the thread, and the native stack below them. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 16 };

export interface ThreadOptions extends Omit<ThreadSettings, 'quickjs'> {
  /** The thread is up; the port carries the calls of its transforms' clients. */
  onStart(hostCalls: MessagePort): void;
  /** The thread broke while idle, or its CPU time could not be read. */
  onFault(error: unknown): void;
}

/** A limit ended the thread, or its memory ran out. */
export class ThreadEnded extends Error {
  readonly limit: 'cpuMs' | 'wallMs' | 'heapBytes';

  constructor(limit: ThreadEnded['limit']) {
    super(`Thread ended: ${limit}`);
    this.name = 'ThreadEnded';
    this.limit = limit;
  }
}

interface CurrentTask {
  signal: EventEmitter;
  exceeded?: 'cpuMs' | 'wallMs';
  cpuMsBefore: number;
  cpuTimer?: NodeJS.Timeout;
}

/**
 * A thread without the process's environment and flags, with memory and stack of its own; after its end its replacement.
 * It is a piscina of one thread, because the CPU time of a task must be that of its thread.
 */
export class Thread {
  isUp = false;
  readonly #options: ThreadOptions;
  readonly #piscina: Piscina;
  #task: CurrentTask | undefined;
  #hostCalls: MessagePort | undefined;
  /** As the thread said last. */
  #cpuMs = 0;

  constructor(options: ThreadOptions) {
    const { limits, headerPrefix, givesWay, onFault } = options;
    this.#options = options;
    this.#piscina = new Piscina({
      filename: fileURLToPath(new URL('./thread/worker.ts', import.meta.url)),
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
    this.#piscina.on('message', (started: ThreadStarted) => this.#hasStarted(started));
    this.#piscina.on('error', onFault);
  }

  get givesWay(): boolean {
    return this.#options.givesWay;
  }

  get isFree(): boolean {
    return this.isUp && this.#task === undefined;
  }

  /**
   * Call it while the thread is free. Beyond the limit of CPU time or wall clock the thread is ended and replaced,
   * whatever its code is doing. @throws {ThreadEnded} then.
   */
  async run(task: ThreadTask): Promise<unknown> {
    const { limits } = this.#options;
    const current: CurrentTask = { signal: new EventEmitter(), cpuMsBefore: this.#cpuMs };
    this.#task = current;
    const wallTimer = setTimeout(() => this.#end(current, 'wallMs'), limits.wallMs + graceMs);
    // A thread cannot use more CPU time than passes, so most tasks are over before the first look.
    current.cpuTimer = setTimeout(() => this.#lookAtCpu(current), limits.cpuMs + graceMs);
    try {
      const answer: ThreadAnswer = await this.#piscina.run(task, { signal: current.signal });
      this.#cpuMs = answer.cpuMs;
      if (answer.error !== undefined) throw answer.error;
      return answer.value;
    } catch (error) {
      if (current.exceeded) throw new ThreadEnded(current.exceeded);
      throw isOutOfMemory(error) ? new ThreadEnded('heapBytes') : error;
    } finally {
      this.#task = undefined;
      clearTimeout(wallTimer);
      clearTimeout(current.cpuTimer);
    }
  }

  /** Call it while the thread has no task, because piscina would wait forever for a thread that ends meanwhile. */
  close(): Promise<void> {
    return this.#piscina.close({ force: true });
  }

  #hasStarted({ hostCalls, cpuMs }: ThreadStarted): void {
    // The port closes with its thread; the next thread opens its own.
    this.#hostCalls = hostCalls.on('close', () => {
      if (this.#hostCalls === hostCalls) this.isUp = false;
    });
    this.#cpuMs = cpuMs;
    this.isUp = true;
    this.#options.onStart(hostCalls);
  }

  #end(task: CurrentTask, limit: 'cpuMs' | 'wallMs'): void {
    if (task !== this.#task || task.exceeded) return;
    task.exceeded = limit;
    this.isUp = false;
    task.signal.emit('abort');
  }

  /** Ends a task that used too much CPU time, because some built-ins of QuickJS never ask for interrupts. */
  async #lookAtCpu(task: CurrentTask): Promise<void> {
    const { limits, onFault } = this.#options;
    const [worker] = this.#piscina.threads;
    if (!worker) return;
    try {
      const usedMs = (await cpuMsOf(worker)) - task.cpuMsBefore;
      if (task !== this.#task) return;
      const leftMs = limits.cpuMs + graceMs - usedMs;
      if (leftMs <= 0) this.#end(task, 'cpuMs');
      else task.cpuTimer = setTimeout(() => this.#lookAtCpu(task), Math.max(leftMs, shortestPauseMs));
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

/** All threads share the machine code, which takes the main thread some 10 ms to make. */
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
