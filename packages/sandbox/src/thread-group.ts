import type { MessagePort } from 'node:worker_threads';
import type { QueueItem, Shares } from './fair-queue.ts';
import type { TransformLimits } from './limits.ts';
import { newScheduler } from './scheduler.ts';
import { openThreads, type Threads } from './threads.ts';

export interface ThreadGroupOptions {
  count: number;
  /** The threads give way to all others of the machine. */
  givesWay: boolean;
  limits: TransformLimits;
  headerPrefix: string;
  /** For as many threads as are up. */
  shares(up: number): Shares;
  /** Work that may wait for a thread. */
  queueLimit: number;
  waitMs: number;
  /** A thread is up: its port for the client's calls. */
  onStart(hostCalls: MessagePort): void;
  /** A thread broke while it had nothing to do. */
  onFault(error: unknown): void;
}

/** Threads, and who is next in them. */
export interface ThreadGroup {
  readonly up: number;
  readonly running: number;
  readonly waiting: number;
  /** Resolves when every thread has loaded once, or the group is closed. */
  ready(): Promise<void>;
  /** Runs `work`, which uses one thread, when its turn has come. Rejects with `unavailable` where it does not come. */
  schedule<T>(of: QueueItem, work: (threads: Threads) => Promise<T>): Promise<T>;
  /** Waits for what runs, refuses what waits. */
  close(): Promise<void>;
}

export function openThreadGroup(options: ThreadGroupOptions): ThreadGroup {
  const { count, shares, queueLimit, waitMs, onStart, ...rest } = options;
  const loaded = Promise.withResolvers<void>();
  const threads = openThreads({
    ...rest,
    count,
    onStart: (port) => {
      onStart(port);
      if (threads.up >= count) loaded.resolve();
      scheduler.startNext();
    },
  });
  const scheduler = newScheduler({
    threads: () => threads.up,
    shares: () => shares(threads.up),
    queueLimit,
    waitMs,
  });

  return {
    get up() {
      return threads.up;
    },
    get running() {
      return scheduler.running;
    },
    get waiting() {
      return scheduler.waiting;
    },
    ready: () => loaded.promise,
    schedule: (of, work) => scheduler.schedule(of, () => work(threads)),
    close: async () => {
      loaded.resolve();
      await scheduler.close();
      await threads.close();
    },
  };
}
