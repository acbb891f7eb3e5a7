import { date, uuid } from '../resource.schema.ts';

/** Each list has one entry for each step. A month has the most. */
const mostSteps = 120;

const counts = { type: 'array', items: { type: ['integer', 'null'] }, maxItems: mostSteps } as const;
const times = { type: 'array', items: { type: ['number', 'null'] }, maxItems: mostSteps } as const;

export const tenantMetricsQuery = {
  type: 'object',
  properties: {
    range: {
      type: 'string',
      enum: ['hour', 'day', 'week', 'month'],
      default: 'hour',
      description:
        'Length of the time range. `hour`: 60 steps of one minute. `day`: 96 steps of 15 minutes. `week`: 84 steps of two hours. `month`: 30 days, in 120 steps of six hours. Steps begin at multiples of their length, in UTC',
    },
    proxy_id: { ...uuid, description: 'Counts only invocations of this Proxy' },
    application_id: {
      ...uuid,
      description: 'Counts only invocations with a key of this Application or with a session that it authorized',
    },
    reactor_id: { ...uuid, description: 'Counts only runs of this reactor' },
  },
} as const;

export const tenantMetrics = {
  type: 'object',
  title: 'TenantMetrics',
  description:
    'Invocations of Proxies and runs of reactors over time. Each list has one entry for each step, oldest first. Null means unknown, and 0 means that nothing was invoked.',
  required: ['from', 'to', 'step_s', 'requests', 'errors', 'destination_errors', 'latency_ms'],
  examples: [
    {
      from: '2026-03-02T09:27:00.000Z',
      to: '2026-03-02T09:30:00.000Z',
      step_s: 60,
      known_from: '2026-03-02T09:28:00.000Z',
      requests: [null, 1204, 388],
      errors: { destination_timeout: [null, 0, 3] },
      destination_errors: [null, 2, 0],
      latency_ms: { p50: [null, 41.2, 40.9], p99: [null, 180, 176] },
    },
  ],
  properties: {
    from: { ...date, description: 'Start of the first step' },
    to: { ...date, description: 'End of the last step. It is in the future, because the last step has not ended yet' },
    step_s: { type: 'integer', enum: [60, 900, 7200, 21600], description: 'Length of a step in seconds' },
    known_from: {
      ...date,
      description:
        'Time at which counting began. It is the later of two times: the creation of the Tenant, and the upgrade of this installation to a version that counts invocations. Values of steps before this time are null. The first step with a value may be incomplete. Absent if counting began at `from` or earlier',
    },
    requests: { ...counts, description: 'Number of invocations' },
    errors: {
      type: 'object',
      additionalProperties: counts,
      description:
        'Number of invocations that Sluice answered with an error, by error code. `caller_gone` means that the caller closed the connection',
    },
    destination_errors: {
      ...counts,
      description: 'Number of invocations whose destination itself answered with a status of 500 or above',
    },
    latency_ms: {
      type: 'object',
      title: 'Latency',
      required: ['p50', 'p99'],
      properties: { p50: times, p99: times },
      description:
        'Duration in milliseconds, from the head of the request to the end of the response, exact to 5 %. The value is null for a step of time in which nothing was invoked',
    },
  },
} as const;
