import { Queue } from 'bullmq';
import { catalogue, type JobName, keyPrefix, type Payload } from './catalogue.ts';

export interface EnqueueOptions<N extends JobName> {
  /** One alarm for one thing: a second job with the same id while the first waits is not added. */
  id: string;
  payload: Payload<N>;
  /** When it is due; at once without it. */
  at?: Date;
}

export interface Jobs {
  /** Adds a job. Rejects within a second when Redis is away; call it after commit, never inside a transaction. */
  enqueue<N extends JobName>(name: N, options: EnqueueOptions<N>): Promise<void>;
}

/** A caller waits for its answer meanwhile. */
const deadlineMs = 1000;

export interface JobsOptions {
  redisUrl: string;
  stack: AsyncDisposableStack;
  onError: (error: Error) => void;
}

/** Opens the producing side of all queues. */
export function openJobs({ redisUrl, stack, onError }: JobsOptions): Jobs {
  const queues = new Map<JobName, Queue>();
  for (const name of Object.keys(catalogue) as JobName[]) {
    const queue = new Queue(name, {
      prefix: keyPrefix,
      connection: { url: redisUrl, enableOfflineQueue: false, maxRetriesPerRequest: 0, connectTimeout: 2000 },
      defaultJobOptions: catalogue[name].options,
    });
    queue.on('error', onError);
    stack.defer(() => queue.close());
    queues.set(name, queue);
  }
  return {
    async enqueue(name, { id, payload, at }) {
      const delay = at ? Math.max(0, at.getTime() - Date.now()) : 0;
      await withDeadline(queues.get(name)?.add(name, payload, { jobId: id, delay }));
    },
  };
}

/** BullMQ waits for ever for the first connection. */
async function withDeadline(work: Promise<unknown> | undefined): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`Redis did not answer within ${deadlineMs} ms`)), deadlineMs);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
