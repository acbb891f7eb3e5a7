import type { JobsOptions } from 'bullmq';

const uuid = { type: 'string', format: 'uuid' } as const;

/** Failed jobs are retried with growing delays. After the last attempt the sweep still finds the row. */
const retried: JobsOptions = {
  attempts: 8,
  backoff: { type: 'exponential', delay: 1000 },
  removeOnComplete: true,
  removeOnFail: { age: 24 * 3600, count: 1000 },
};

/** The sweep enqueues rows that still wait, so a failed job must not keep its id. */
const sweptSoon: JobsOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true };

/** A job names a row, and the row decides what happens. Payloads contain only ids. */
export const catalogue = {
  'application-expiry': {
    payload: {
      type: 'object',
      required: ['tenant_id', 'application_id'],
      additionalProperties: false,
      properties: { tenant_id: uuid, application_id: uuid },
    },
    options: retried,
  },
  'tenant-purge': {
    payload: {
      type: 'object',
      required: ['tenant_id'],
      additionalProperties: false,
      properties: { tenant_id: uuid },
    },
    options: retried,
  },
  'reactor-run': {
    payload: {
      type: 'object',
      required: ['tenant_id', 'run_id'],
      additionalProperties: false,
      properties: { tenant_id: uuid, run_id: uuid },
    },
    options: sweptSoon,
  },
} as const satisfies Record<keyof Payloads, object>;

interface Payloads {
  'application-expiry': { tenant_id: string; application_id: string };
  'tenant-purge': { tenant_id: string };
  'reactor-run': { tenant_id: string; run_id: string };
}

export type JobName = keyof Payloads;
export type Payload<N extends JobName> = Payloads[N];

/** The hash tag puts all keys of the queues into one slot of a Redis Cluster. */
export const keyPrefix = '{sluice:jobs}';
