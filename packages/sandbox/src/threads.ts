import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire, getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MessagePort, Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { Numbered, ThreadSettings, ThreadStarted } from './thread/messages.ts';
import { openTaskMark, type TaskMark, taskNumbers } from './thread/task-mark.ts';

/** A thread stops its own work at the limit; the main thread ends a thread that has not done so this much later. */
const graceMs = 100;
/** The main thread looks no more often than this at the CPU time of a thread. */
const shortestPauseMs = 20;
/** What QuickJS's own limits do not cover: text on its way through the thread, and the native stack below them. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 16 };

export interface ThreadsOptions extends Omit<ThreadSettings, 'quickjs'> {
  count: number;
  /** A thread is up: the port for the calls of its transforms' clients. */
  onStart(hostCalls: MessagePort): void;
  /** A thread broke while it had nothing to do, or its CPU time could not be asked for. */
  onFault(error: unknown): void;
}

export interface Threads {
  /** How many are up, busy or not; a new or replaced one counts once it has loaded. */
  readonly up: number;
  readonly givesWay: boolean;
  /**
   * Runs a function of the worker in a free thread. A thread beyond its limit of CPU time or wall clock is ended and
   * replaced, whatever its code is doing: rejects with a {@link ThreadEnded}.
   */
  run(name: 'run' | 'compile', task: unknown): Promise<unknown>;
  /** To be called while no thread is busy, because piscina would wait forever for one that is ended meanwhile. */
  close(): Promise<void>;
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

/** A thread, and where it marks the task that it is at. */
interface MarkedThread {
  worker: Worker;
  mark: TaskMark;
}

/** Opens threads that see nothing of the process's environment and flags, and have memory and stack of their own. */
export function openThreads({ count, onStart, onFault, ...given }: ThreadsOptions): Threads {
  const { limits } = given;
  const settings: ThreadSettings = { ...given, quickjs: compileQuickJs() };
  const piscina = new Piscina({
    filename: fileURLToPath(new URL('./thread/worker.ts', import.meta.url)),
    minThreads: count,
    maxThreads: count,
    maxQueue: count,
    closeTimeout: limits.wallMs + 1_000,
    recordTiming: false,
    env: threadEnvironment(),
    argv: [],
    execArgv: [],
    workerData: settings,
    resourceLimits,
  });
  const up = new Map<number, MarkedThread>();
  let ending = 0;
  let lastTaskNumber = 0;
  piscina.on('message', ({ threadId, hostCalls, markMemory }: ThreadStarted) => {
    const worker = piscina.threads.find((thread) => thread.threadId === threadId);
    if (!worker) return; // It has ended since.
    up.set(threadId, { worker, mark: openTaskMark(markMemory) });
    hostCalls.on('close', () => {
      up.delete(threadId);
      ending = Math.max(ending - 1, 0);
    });
    onStart(hostCalls);
  });
  piscina.on('error', onFault);

  /**
   * Calls `end` when the thread of the task has used too much CPU time, because a built-in of QuickJS that never asks
   * for interrupts cannot be stopped from within. Returns what ends the watch; most tasks are over before the first look.
   */
  function watchCpu(taskNumber: number, end: () => void): () => void {
    const limitMs = limits.cpuMs + graceMs;
    let isOver = false;
    // A thread cannot use more CPU time than passes.
    let timer = setTimeout(lookNow, limitMs);

    function lookNow(): void {
      look().catch(onFault);
    }

    async function look(): Promise<void> {
      const usedMs = await cpuMsFor(taskNumber, up.values());
      if (isOver) return;
      if (usedMs >= limitMs) end();
      else timer = setTimeout(lookNow, Math.max(limitMs - usedMs, shortestPauseMs));
    }

    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }

  async function run(name: 'run' | 'compile', task: unknown): Promise<unknown> {
    const signal = new EventEmitter();
    let exceeded: 'cpuMs' | 'wallMs' | undefined;
    const end = (limit: 'cpuMs' | 'wallMs') => {
      if (exceeded) return;
      exceeded = limit;
      ending += 1;
      signal.emit('abort');
    };
    lastTaskNumber = (lastTaskNumber + 1) % taskNumbers;
    const taskNumber = lastTaskNumber;
    const timer = setTimeout(end, limits.wallMs + graceMs, 'wallMs');
    const unwatch = watchCpu(taskNumber, () => end('cpuMs'));
    try {
      return await piscina.run({ taskNumber, task } satisfies Numbered<unknown>, { name, signal });
    } catch (error) {
      if (exceeded) throw new ThreadEnded(exceeded);
      throw isOutOfMemory(error) ? new ThreadEnded('heapBytes') : error;
    } finally {
      clearTimeout(timer);
      unwatch();
    }
  }

  return {
    get up() {
      return up.size - ending;
    },
    givesWay: given.givesWay,
    run,
    close: () => piscina.close({ force: true }),
  };
}

/** The CPU time that a thread has used for the task so far; 0 before it has begun. Piscina does not say which thread. */
async function cpuMsFor(taskNumber: number, threads: Iterable<MarkedThread>): Promise<number> {
  for (const { worker, mark } of threads) {
    const before = mark.cpuMsBefore(taskNumber);
    if (before !== undefined) return (await cpuMsOf(worker)) - before;
  }
  return 0;
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
