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
  description: 'Invocations of the last hour. Each list has an entry for each step, oldest first.',
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
    from: { ...date, description: 'Where the first step begins' },
    to: { ...date, description: 'Where the last step ends, which is still under way' },
    step_s: { type: 'integer', description: 'Seconds in a step' },
    requests: { ...counts, description: 'How many there were' },
    errors: {
      type: 'object',
      additionalProperties: counts,
      description: 'How many ended with this error code, or `caller_gone`, by cause',
    },
    latency_ms: {
      type: 'object',
      title: 'Latency',
      required: ['p50', 'p99'],
      properties: { p50: times, p99: times },
      description: 'From the head of the request to the end of the answer, within 5 %; null for a step without any',
    },
  },
} as const;

export const getTenantMetrics = operation({
  id: 'getTenantMetrics',
  tag: 'Tenants',
  summary: 'Invocations, errors and latency by the minute, of the last hour',
  description:
    'Added up over all gateways, in Redis: to look at and not to account by. The lists are empty while Redis is away.',
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
