import { ServiceError } from '@sluice/problems';
import { newFairQueue, type QueueItem, type Shares } from './fair-queue.ts';

interface Job extends QueueItem {
  /** `release` is called before the caller gets the answer. */
  start(release: () => void): void;
  /** Only while it waits. */
  refuse(): void;
}

export interface SchedulerOptions {
  /** Threads that are up, busy or not. */
  threads(): number;
  /** For as many threads as are up now. */
  shares(): Shares;
  /** Work that may wait. */
  queueLimit: number;
  /** Longest wait; what waits longer is refused. */
  waitMs: number;
}

/** Decides which Tenant's work is next. */
export interface Scheduler {
  readonly running: number;
  readonly waiting: number;
  /** Rejects with `unavailable` where too much waits, it waits too long, or the scheduler is closed. */
  schedule<T>(of: QueueItem, work: () => Promise<T>): Promise<T>;
  /** A thread is up: work that waits may start. */
  startNext(): void;
  /** Refuses what waits, and all that comes; resolves when nothing runs. */
  close(): Promise<void>;
}

export function newScheduler({ threads, shares, queueLimit, waitMs }: SchedulerOptions): Scheduler {
  const queue = newFairQueue<Job>(shares);
  let running = 0;
  let closed = false;
  const idle = Promise.withResolvers<void>();

  function startNext(): void {
    while (running < threads()) {
      const job = queue.take();
      if (!job) return;
      running += 1;
      job.start(() => {
        running -= 1;
        queue.finish(job);
        startNext();
        if (closed && running === 0) idle.resolve();
      });
    }
  }

  return {
    get running() {
      return running;
    },
    get waiting() {
      return queue.size;
    },
    startNext,
    schedule: <T>({ tenantId, isDoubtful }: QueueItem, work: () => Promise<T>) => {
      if (closed) return Promise.reject(busy());
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      let timer: NodeJS.Timeout | undefined;
      const refuse = () => {
        clearTimeout(timer);
        queue.remove(job);
        reject(busy());
      };
      const job: Job = {
        tenantId,
        isDoubtful,
        refuse,
        start: (release) => {
          clearTimeout(timer);
          void work().finally(release).then(resolve, reject);
        },
      };
      queue.add(job);
      startNext();
      if (queue.size > queueLimit) queue.removeFromLongest()?.refuse();
      if (queue.has(job)) timer = setTimeout(refuse, waitMs);
      return promise;
    },
    close: () => {
      closed = true;
      for (const job of queue.waiting()) job.refuse();
      if (running === 0) idle.resolve();
      return idle.promise;
    },
  };
}

/** Too much is under way; it can be asked again. */
export const busy = () =>
  new ServiceError('unavailable', 'Too many transforms are running; try again', { retryAfterSeconds: 1 });
