import type { Worker } from 'node:worker_threads';
import type { TaskMark } from './thread/task-mark.ts';

/** A thread, and where it marks the task that it is at. */
export interface MarkedThread {
  worker: Worker;
  mark: TaskMark;
}

export interface CpuWatchOptions {
  taskNumber: number;
  limitMs: number;
  /** Those that are up now: the pool of threads does not say which of them got the task. */
  threads(): Iterable<MarkedThread>;
  /** The thread of the task has used so much CPU time for it; called at most once. */
  onExceeded(): void;
  /** The thread could not be asked; the task goes on, unwatched. */
  onFault(error: unknown): void;
}

/** A thread that has not begun the task, or is about to reach the limit, is looked at again no sooner. */
const shortestPauseMs = 20;

/**
 * Looks from outside at the CPU time that a thread uses for a task: a built-in of QuickJS that never asks for
 * interrupts cannot be stopped from within. Most tasks are over before the first look.
 * @returns what ends the watch.
 */
export function watchCpu({ taskNumber, limitMs, threads, onExceeded, onFault }: CpuWatchOptions): () => void {
  let ended = false;
  // A thread cannot use more CPU time than passes.
  let timer = setTimeout(lookNow, limitMs);

  function lookNow(): void {
    look().catch(onFault);
  }

  async function look(): Promise<void> {
    const usedMs = await usedFor(taskNumber, threads());
    if (ended) return;
    if (usedMs >= limitMs) onExceeded();
    else timer = setTimeout(lookNow, Math.max(limitMs - usedMs, shortestPauseMs));
  }

  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

async function usedFor(taskNumber: number, threads: Iterable<MarkedThread>): Promise<number> {
  for (const { worker, mark } of threads) {
    const before = mark.cpuMsBefore(taskNumber);
    if (before !== undefined) return (await cpuMsOf(worker)) - before;
  }
  return 0;
}

/** 0 for a thread that ends meanwhile: its task ends with it. */
async function cpuMsOf(worker: Worker): Promise<number> {
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1_000;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_NOT_RUNNING') return 0;
    throw error;
  }
}
