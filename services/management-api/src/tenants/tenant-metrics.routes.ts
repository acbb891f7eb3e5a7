import { type FeedStore, figuresOf, type MinuteCounts } from '@sluice/invocation-feed';
import { operation } from '../context.ts';
import { date } from '../resource.schema.ts';

const minuteMs = 60_000;
const minutes = 60;

const counts = { type: 'array', items: { type: 'integer' }, maxItems: minutes } as const;
const times = { type: 'array', items: { type: ['number', 'null'] }, maxItems: minutes } as const;

const tenantMetrics = {
  type: 'object',
  title: 'TenantMetrics',
  description: 'Invocations of the last hour. Each list has one entry for each step, oldest first.',
  required: ['from', 'to', 'step_s', 'requests', 'errors', 'latency_ms'],
  examples: [
    {
      from: '2026-03-02T09:28:00.000Z',
      to: '2026-03-02T09:30:00.000Z',
      step_s: 60,
      requests: [1204, 388],
      errors: { destination_timeout: [0, 3] },
      latency_ms: { p50: [41.2, 40.9], p99: [180, 176] },
    },
  ],
  properties: {
    from: { ...date, description: 'Start of the first step' },
    to: { ...date, description: 'End of the last step, which is not over yet' },
    step_s: { type: 'integer', description: 'Length of a step in seconds' },
    requests: { ...counts, description: 'Number of invocations' },
    errors: {
      type: 'object',
      additionalProperties: counts,
      description:
        'Number of invocations that failed, by error code. `caller_gone` means that the caller closed the connection',
    },
    latency_ms: {
      type: 'object',
      title: 'Latency',
      required: ['p50', 'p99'],
      properties: { p50: times, p99: times },
      description:
        'Duration in milliseconds, from the head of the request to the end of the response, exact to 5 %. Null for a step without invocations',
    },
  },
} as const;

export const getTenantMetrics = operation({
  id: 'getTenantMetrics',
  tag: 'Tenants',
  summary: 'Get invocations, errors and latency of the last hour by minute',
  description:
    'Sums over all gateways, kept in Redis. They may be incomplete, so do not use them for billing. If Redis is unavailable, the lists are empty.',
  method: 'get',
  path: '/tenants/self/metrics',
  permission: 'report:read',
  response: { 200: tenantMetrics },
  async handle({ caller }, { feed }) {
    const newest = Math.floor(Date.now() / minuteMs);
    const asked = Array.from({ length: minutes }, (_, i) => newest - minutes + 1 + i);
    const counted = await readCounts(feed, caller.tenantId, asked);
    return {
      from: new Date((newest - minutes + 1) * minuteMs).toISOString(),
      to: new Date((newest + 1) * minuteMs).toISOString(),
      step_s: minuteMs / 1000,
      ...figuresOf(counted),
    };
  },
});

function readCounts(feed: FeedStore, tenantId: string, asked: number[]): Promise<MinuteCounts[]> {
  return feed.readFigures(tenantId, asked).catch(() => []);
}
