import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire, getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { type MarkedThread, watchCpu } from './cpu-watch.ts';
import type { Numbered, ThreadSettings, ThreadStarted } from './thread/messages.ts';
import { openTaskMark, taskNumbers } from './thread/task-mark.ts';

/** How much later than the thread itself the main thread ends a task: it then ends the thread. */
const graceMs = 100;

/** What QuickJS's own limits do not cover: text on its way through the thread, and the native stack below them. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 16 };

export interface ThreadsOptions extends Omit<ThreadSettings, 'quickjs'> {
  count: number;
  /** A thread is up: its port for the client's calls. */
  onStart(hostCalls: MessagePort): void;
  /** A thread broke while it had nothing to do. */
  onFault(error: unknown): void;
}

export interface Threads {
  /** How many are up, busy or not; a new or replaced one only when it has loaded. */
  readonly up: number;
  readonly giveWay: boolean;
  /**
   * Runs a function of the worker in a free thread. A thread that is past the limits of CPU time or wall clock is ended
   * and replaced, whatever its code is doing: rejects with a {@link ThreadEnded}.
   */
  run(name: 'run' | 'compile', task: unknown): Promise<unknown>;
  /** While no task is under way: piscina would wait in vain for a thread that is ended meanwhile. */
  close(): Promise<void>;
}

/** The thread had to be ended, or ended itself for lack of memory. */
export class ThreadEnded extends Error {
  readonly limit: 'cpuMs' | 'wallMs' | 'heapBytes';

  constructor(limit: ThreadEnded['limit']) {
    super(`Thread ended: ${limit}`);
    this.name = 'ThreadEnded';
    this.limit = limit;
  }
}

/** Threads with nothing of the process's environment, none of its flags, and memory and stack of their own. */
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
    if (!worker) return; // it has ended since
    up.set(threadId, { worker, mark: openTaskMark(markMemory) });
    hostCalls.on('close', () => {
      up.delete(threadId);
      ending = Math.max(ending - 1, 0);
    });
    onStart(hostCalls);
  });
  piscina.on('error', onFault);

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
    const unwatch = watchCpu({
      taskNumber,
      limitMs: limits.cpuMs + graceMs,
      threads: () => up.values(),
      onExceeded: () => end('cpuMs'),
      onFault,
    });
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
    giveWay: given.givesWay,
    run,
    close: () => piscina.close({ force: true }),
  };
}

let compiled: WebAssembly.Module | undefined;

/** Once for all threads of the process, which share the machine code: it takes the main thread some 10 ms. */
function compileQuickJs(): WebAssembly.Module {
  if (compiled) return compiled;
  const require = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten'));
  compiled = new WebAssembly.Module(readFileSync(require.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')));
  return compiled;
}

/** Where Node keeps compiled sources, if it does: then a thread starts in a third of the time. */
function threadEnvironment(): Record<string, string> {
  const directory = getCompileCacheDir();
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
