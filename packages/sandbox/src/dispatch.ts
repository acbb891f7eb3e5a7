import type { MessagePort } from 'node:worker_threads';
import { ServiceError } from '@sluice/problems';
import type { Group, Schedule, Work } from './schedule.ts';
import { openThreads, type Threads, type ThreadsOptions } from './threads.ts';

/** Work, and how it is done. */
export interface Job extends Work {
  /** Uses one thread. Resolves with what tells the callers, which is called once the thread is free again. */
  start(threads: Threads): Promise<() => void>;
  refuse(): void;
  /** Ends the wait. */
  timer?: NodeJS.Timeout;
}

export interface DispatchOptions extends Omit<ThreadsOptions, 'count' | 'givesWay' | 'onStart'> {
  counts: Record<Group, number>;
  /** The longest wait for a thread, in milliseconds. */
  waitMs: number;
  /** A thread is up: the port for the calls of its transforms' clients. */
  listen(hostCalls: MessagePort): void;
}

/** Gives threads to jobs in the order of the schedule. The slow threads are opened when the first job needs one. */
export function openDispatch(schedule: Schedule<Job>, options: DispatchOptions) {
  const { counts, waitMs, listen, ...settings } = options;
  const loaded = Promise.withResolvers<void>();
  const idle = Promise.withResolvers<void>();
  const opened: Partial<Record<Group, Threads>> = {};
  let isClosed = false;

  function threadsOf(group: Group): Threads {
    const count = counts[group];
    opened[group] ??= openThreads({
      ...settings,
      count,
      givesWay: group === 'slow',
      onStart: (hostCalls) => {
        listen(hostCalls);
        if (group === 'quick' && threadsOf(group).up >= count) loaded.resolve();
        startNext(group);
      },
    });
    return opened[group];
  }

  function startNext(group: Group): void {
    const threads = threadsOf(group);
    while (schedule.running(group) < threads.up) {
      const job = schedule.next(group, threads.up);
      if (!job) return;
      clearTimeout(job.timer);
      void run(job, group, threads);
    }
  }

  async function run(job: Job, group: Group, threads: Threads): Promise<void> {
    const tell = await job.start(threads);
    schedule.release(job, group);
    startNext(group);
    if (schedule.waiting('slow') > 0) startNext('slow');
    if (isClosed && schedule.running() === 0) idle.resolve();
    tell();
  }

  threadsOf('quick');
  return {
    /** How many threads are up, busy or not. */
    up: () => (opened.quick?.up ?? 0) + (opened.slow?.up ?? 0),
    /** Resolves when every quick thread has loaded once, or the dispatch is closed. */
    ready: () => loaded.promise,
    /** Refuses the job, or another in its place, where too much waits, and the job where it waits too long. */
    add: (job: Job): void => {
      if (isClosed) {
        job.refuse();
        return;
      }
      const group = schedule.add(job);
      job.timer = setTimeout(() => {
        if (schedule.remove(job)) job.refuse();
      }, waitMs);
      startNext(group);
      const evicted = schedule.evict(group);
      clearTimeout(evicted?.timer);
      evicted?.refuse();
    },
    /** Refuses what waits. The threads are closed when nothing runs, because piscina waits forever for one that ends. */
    close: async (): Promise<void> => {
      isClosed = true;
      loaded.resolve();
      for (const job of schedule.removeAll()) {
        clearTimeout(job.timer);
        job.refuse();
      }
      if (schedule.running() === 0) idle.resolve();
      await idle.promise;
      await Promise.all([opened.quick?.close(), opened.slow?.close()]);
    },
  };
}

/** Too much runs already; the caller may try again. */
export const busy = () =>
  new ServiceError('unavailable', 'Too many transforms are running; try again', { retryAfterSeconds: 1 });
