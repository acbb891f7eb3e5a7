import { Queue } from 'bullmq';
import { catalogue, type JobName, keyPrefix, type Payload } from './catalogue.ts';
import { isDoneInTime, openConnection } from './connection.ts';

export interface EnqueueOptions<N extends JobName> {
  /** A second job with the same id is not added while the first one waits. */
  id: string;
  payload: Payload<N>;
  at?: Date;
}

export interface Jobs {
  /** Call it after the commit. Rejects at once without Redis, and within a second without an answer. */
  enqueue<N extends JobName>(name: N, options: EnqueueOptions<N>): Promise<void>;
}

export interface JobsOptions {
  redisUrl: string;
  stack: AsyncDisposableStack;
  onError: (error: Error) => void;
  traceparent?: (() => string | undefined) | undefined;
}

export function openJobs({ redisUrl, stack, onError, traceparent }: JobsOptions): Jobs {
  const { redis: connection } = openConnection(redisUrl, stack, { maxRetriesPerRequest: 0 });
  let away = false;
  // The status decides, because a cluster may report the error of one node while it is ready.
  const look = () => {
    away = connection.status !== 'ready';
  };
  connection.on('ready', look).on('error', look).on('close', look);
  const queues = new Map<JobName, Queue>();
  for (const name of Object.keys(catalogue) as JobName[]) {
    const queue = new Queue(name, {
      prefix: keyPrefix,
      connection,
      defaultJobOptions: catalogue[name].options,
    });
    queue.on('error', onError);
    stack.defer(() => queue.close());
    queues.set(name, queue);
  }
  return {
    async enqueue(name, { id, payload, at }) {
      if (away) throw new Error('Redis is away');
      const delay = at ? Math.max(0, at.getTime() - Date.now()) : 0;
      const metadata = traceparent?.();
      const options = { jobId: id, delay, ...(metadata !== undefined && { telemetry: { metadata } }) };
      const added = queues.get(name)?.add(name, payload, options) ?? Promise.resolve();
      if (!(await isDoneInTime(added))) throw new Error('Redis did not answer in time');
    },
  };
}
