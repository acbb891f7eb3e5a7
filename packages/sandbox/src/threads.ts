import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { ThreadSettings, ThreadStarted } from './thread/messages.ts';

/** What QuickJS's own limits do not cover: text on its way through the thread, and the native stack below them. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 16 };

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
  /**
   * Runs a function of the worker in a free thread. A thread that has not answered after `deadlineMs` is ended and
   * replaced, whatever its code is doing: rejects with a {@link ThreadEnded}.
   */
  run(name: 'run' | 'compile', task: unknown, deadlineMs: number): Promise<unknown>;
  close(): Promise<void>;
}

/** The thread had to be ended, or ended itself for lack of memory. */
export class ThreadEnded extends Error {
  readonly limit: 'wallMs' | 'heapBytes';

  constructor(limit: 'wallMs' | 'heapBytes') {
    super(`Thread ended: ${limit}`);
    this.name = 'ThreadEnded';
    this.limit = limit;
  }
}

/** Threads with an empty environment, none of the process's flags, and memory and stack of their own. */
export function openThreads({ count, limits, headerPrefix, onStart, onFault }: ThreadsOptions): Threads {
  const settings: ThreadSettings = { limits, headerPrefix, quickjs: compileQuickJs() };
  const piscina = new Piscina({
    filename: fileURLToPath(new URL('./thread/worker.ts', import.meta.url)),
    minThreads: count,
    maxThreads: count,
    maxQueue: count,
    closeTimeout: limits.wallMs + 1_000,
    recordTiming: false,
    env: {},
    argv: [],
    execArgv: [],
    workerData: settings,
    resourceLimits,
  });
  const ports = new Set<MessagePort>();
  let ending = 0;
  piscina.on('message', ({ hostCalls }: ThreadStarted) => {
    ports.add(hostCalls);
    hostCalls.on('close', () => {
      ports.delete(hostCalls);
      ending = Math.max(ending - 1, 0);
    });
    onStart(hostCalls);
  });
  piscina.on('error', onFault);

  return {
    get up() {
      return ports.size - ending;
    },
    run: async (name, task, deadlineMs) => {
      const signal = new EventEmitter();
      let expired = false;
      const timer = setTimeout(() => {
        expired = true;
        ending += 1;
        signal.emit('abort');
      }, deadlineMs);
      try {
        return await piscina.run(task, { name, signal });
      } catch (error) {
        if (expired) throw new ThreadEnded('wallMs');
        throw isOutOfMemory(error) ? new ThreadEnded('heapBytes') : error;
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => piscina.close({ force: true }),
  };
}

/** Once for all threads, which share the machine code. */
function compileQuickJs(): WebAssembly.Module {
  const require = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten'));
  return new WebAssembly.Module(readFileSync(require.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')));
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
