import { Ajv } from 'ajv';
import { Queue, UnrecoverableError, Worker } from 'bullmq';
import { catalogue, type JobName, keyPrefix, type Payload } from './catalogue.ts';
import { isDoneInTime, openConnection } from './connection.ts';
import type { JobMetrics } from './job-metrics.ts';

export interface ConsumeOptions {
  redisUrl: string;
  stack: AsyncDisposableStack;
  /** Called for each failed attempt, but not while Redis is unavailable. */
  onError: (error: Error) => void;
  concurrency?: number;
  /** When a worker gives no sign of life for this long, another takes its job. Default 30 s. */
  lockMs?: number;
  metrics?: JobMetrics;
  /** Runs each job in a span; `causedBy` is the `traceparent` of the request that enqueued it. */
  inSpan?: InSpan | undefined;
}

type InSpan = <T>(name: string, work: () => Promise<T>, options: { causedBy?: string | undefined }) => Promise<T>;

const ajv = new Ajv({ formats: { uuid: /^[0-9a-f-]{36}$/ } });

/** `handle` must be idempotent, because a job may run twice. On disposal running jobs finish, with or without Redis. */
export function consume<N extends JobName>(
  name: N,
  handle: (payload: Payload<N>) => Promise<void>,
  { redisUrl, stack, onError, concurrency = 8, lockMs = 30_000, metrics, inSpan }: ConsumeOptions,
): void {
  const isPayload = ajv.compile<Payload<N>>(catalogue[name].payload);
  const underWay = new Set<Promise<void>>();
  const connection = openConnection(redisUrl, stack, { maxRetriesPerRequest: null });
  const worker = new Worker(
    name,
    async (job) => {
      const payload: unknown = job.data;
      if (!isPayload(payload))
        throw new UnrecoverableError(`job ${job.id} of ${name} has a payload that does not match its schema`);
      const causedBy = job.opts.telemetry?.metadata;
      const work = inSpan ? inSpan(`job ${name}`, () => handle(payload), { causedBy }) : handle(payload);
      underWay.add(work);
      await work.finally(() => underWay.delete(work));
    },
    {
      prefix: keyPrefix,
      connection: connection.redis,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: lockMs / 2,
    },
  );
  // Each attempt to reconnect emits an error too, so errors are reported only while Redis is ready.
  const onQueueError = (error: Error) => {
    if (connection.isReady()) onError(error);
  };
  worker.on('error', onQueueError).on('completed', () => metrics?.completed(name));
  worker.on('failed', (_job, error) => {
    metrics?.failed(name);
    onError(error);
  });
  if (metrics) {
    const queue = new Queue(name, { prefix: keyPrefix, connection: connection.redis });
    queue.on('error', onQueueError);
    metrics.follow(queue);
  }
  stack.defer(async () => {
    // Without force BullMQ waits for Redis for ever. A job whose end Redis has not learnt of runs again.
    const closed = worker.close(!connection.isReady());
    await Promise.allSettled(underWay);
    await isDoneInTime(closed);
  });
}
