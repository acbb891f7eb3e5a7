import type { MessagePort } from 'node:worker_threads';
import { ServiceError } from '@sluice/problems';
import type { Group, Schedule, Work } from './schedule.ts';
import { Thread, type ThreadOptions } from './threads.ts';

export interface Job extends Work {
  /** Uses one thread. Resolves with a function that tells the callers, called once the thread is free again. */
  start(thread: Thread): Promise<() => void>;
  refuse(): void;
  timer?: NodeJS.Timeout;
}

export interface DispatchOptions extends Omit<ThreadOptions, 'givesWay' | 'onStart'> {
  counts: Record<Group, number>;
  waitMs: number;
  /** Called for each thread that starts, with the port for the calls of its transforms' clients. */
  listen(hostCalls: MessagePort): void;
}

/** Gives threads to jobs in the order of the schedule. */
export function openDispatch(schedule: Schedule<Job>, options: DispatchOptions) {
  const { counts, waitMs, listen, ...settings } = options;
  const loaded = Promise.withResolvers<void>();
  const idle = Promise.withResolvers<void>();
  const threads: Record<Group, Thread[]> = { quick: [], slow: [] };
  let isClosed = false;

  function open(group: Group): void {
    const onStart = (hostCalls: MessagePort) => {
      listen(hostCalls);
      if (upIn('quick') === counts.quick) loaded.resolve();
      startNext(group);
    };
    const givesWay = group === 'slow';
    threads[group] = Array.from({ length: counts[group] }, () => new Thread({ ...settings, givesWay, onStart }));
  }

  const upIn = (group: Group) => threads[group].filter(({ isUp }) => isUp).length;

  /** Takes the first free thread, because instances stay warm in the threads that are used. */
  function startNext(group: Group): void {
    for (const thread of threads[group]) {
      if (!thread.isFree) continue;
      const job = schedule.next(group, upIn(group));
      if (!job) return;
      clearTimeout(job.timer);
      void run(job, group, thread);
    }
  }

  async function run(job: Job, group: Group, thread: Thread): Promise<void> {
    const settle = await job.start(thread);
    schedule.release(job, group);
    settle();
    startNext('quick');
    startNext('slow');
    if (isClosed && schedule.running() === 0) idle.resolve();
  }

  open('quick');
  return {
    up: () => upIn('quick') + upIn('slow'),
    /** Resolves when every quick thread has loaded once, or the dispatch is closed. */
    ready: () => loaded.promise,
    /** Call when something is slow for the first time. */
    openSlowThreads: (): void => {
      if (threads.slow.length === 0) open('slow');
    },
    /** Where too much waits it refuses this job or another, and it refuses the job when it has waited too long. */
    add: (job: Job): void => {
      if (isClosed) {
        job.refuse();
        return;
      }
      schedule.add(job);
      job.timer = setTimeout(() => {
        if (schedule.remove(job)) job.refuse();
      }, waitMs);
      startNext('quick');
      startNext('slow');
      const evicted = schedule.evict();
      clearTimeout(evicted?.timer);
      evicted?.refuse();
    },
    /** Refuses what waits, and closes the threads once nothing runs. */
    close: async (): Promise<void> => {
      isClosed = true;
      loaded.resolve();
      for (const job of schedule.removeAll()) {
        clearTimeout(job.timer);
        job.refuse();
      }
      if (schedule.running() === 0) idle.resolve();
      await idle.promise;
      await Promise.all([...threads.quick, ...threads.slow].map((thread) => thread.close()));
    },
  };
}

export const busy = () =>
  new ServiceError('unavailable', 'Too many transforms are running; try again', { retryAfterSeconds: 1 });
