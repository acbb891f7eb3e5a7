import { refuse, type TypeOf } from '@sluice/http-api';
import {
  addCounts,
  type CountedStep,
  type Counts,
  countsBeyond,
  emptyCounts,
  figuresOf,
  readCounts,
  readKnownFrom,
  type Series,
} from '@sluice/invocation-feed';
import { type Context, operation } from '../context.ts';
import { tenantMetrics, tenantMetricsQuery } from './tenant-metrics.schema.ts';

const minuteMs = 60_000;

type Filter = Omit<TypeOf<typeof tenantMetricsQuery>, 'range'>;

/** A step is the sum of its rows in Postgres. The newest minutes are read from Redis too. */
interface Range {
  step: number;
  steps: number;
  rows: CountedStep;
  minutes: number;
}

/** A gateway writes once a minute, so of older minutes Redis knows more only if a gateway was killed. */
const runningMinutes = 3;

const ranges: Record<TypeOf<typeof tenantMetricsQuery>['range'], Range> = {
  hour: { step: 60, steps: 60, rows: 60, minutes: 60 },
  day: { step: 900, steps: 96, rows: 900, minutes: runningMinutes },
  week: { step: 7200, steps: 84, rows: 900, minutes: runningMinutes },
  month: { step: 21_600, steps: 120, rows: 21_600, minutes: runningMinutes },
};

export const getTenantMetrics = operation({
  id: 'getTenantMetrics',
  tag: 'Tenants',
  summary: 'Get invocations, errors and latency over time',
  description:
    'Sums over all gateways, for the Tenant or for one Proxy, Application or reactor. Gateways write their counts to Postgres once a minute, so the last minute may be incomplete. The sums of the whole Tenant also include counts from Redis that are not in Postgres yet. The sums of one Proxy, Application or reactor do not include these. A gateway that is killed loses the counts that it has not written. Do not use the sums for billing. The response divides the range into steps of equal length. In each step, at most 200 Proxies, Applications and reactors of a Tenant, counted together, have sums of their own. These are the ones whose counts were written first. If more of them are used in a step, the sums of that step are null for all others.',
  method: 'get',
  path: '/tenants/self/metrics',
  permission: 'report:read',
  query: tenantMetricsQuery,
  response: { 200: tenantMetrics },
  async handle({ query: { range: name, ...filter }, caller: { tenantId } }, context) {
    const series = readSeries(tenantId, filter);
    const range = ranges[name];
    const to = (Math.floor(Date.now() / 1000 / range.step) + 1) * range.step;
    const from = to - range.steps * range.step;
    const knownFrom = await readKnownFrom(context.db, tenantId);
    const steps = await readSteps(tenantId, { series, range, from, to }, context);
    const isKnown = (at: number) => (at + range.step) * 1000 > knownFrom;
    return {
      from: toDate(from),
      to: toDate(to),
      step_s: range.step,
      ...(knownFrom > from * 1000 && { known_from: new Date(knownFrom).toISOString() }),
      ...figuresOf([...steps].map(([at, counts]) => (isKnown(at) ? counts : undefined))),
    };
  },
});

const toDate = (seconds: number) => new Date(seconds * 1000).toISOString();

const filters = { proxy_id: 'proxy', application_id: 'application', reactor_id: 'reactor' } as const;

function readSeries(tenantId: string, filter: Filter): Series {
  const [first, second] = Object.keys(filters).filter((member) => filter[member as keyof Filter] !== undefined);
  if (second) refuse({ [second]: [`cannot be combined with ${first}`] });
  const member = first as keyof Filter | undefined;
  return member ? { kind: filters[member], id: filter[member] ?? '' } : { kind: 'tenant', id: tenantId };
}

interface Asked {
  series: Series;
  range: Range;
  from: number;
  to: number;
}

/** By the start of each step, oldest first. Undefined means unknown. */
async function readSteps(
  tenantId: string,
  { series, range, from, to }: Asked,
  { db, feed }: Pick<Context, 'db' | 'feed'>,
): Promise<Map<number, Counts | undefined>> {
  const steps = new Map<number, Counts | undefined>();
  for (let at = from; at < to; at += range.step) steps.set(at, emptyCounts());
  const stepOf = (start: number) => Math.floor(start / range.step) * range.step;
  for (const [start, row] of await readCounts(db, tenantId, { series, step: range.rows, from, to })) {
    const step = steps.get(stepOf(start));
    if (step && row) addCounts(step, row);
    else steps.set(stepOf(start), undefined);
  }
  if (series.kind !== 'tenant') return steps;
  for (const [minute, counts] of await readUnwritten(tenantId, range.minutes, { db, feed })) {
    const step = steps.get(stepOf(minute));
    if (step) addCounts(step, counts);
  }
  return steps;
}

/**
 * What Redis knows of the newest minutes beyond Postgres. Both lack some of the same invocations, so the one that has more of a
 * minute is nearer to the truth. Without Redis there is nothing to add.
 */
async function readUnwritten(
  tenantId: string,
  minutes: number,
  { db, feed }: Pick<Context, 'db' | 'feed'>,
): Promise<[minute: number, Counts][]> {
  const newest = Math.floor(Date.now() / minuteMs);
  const asked = Array.from({ length: minutes }, (_, i) => newest - i);
  const inRedis = await feed.readFigures(tenantId, asked).catch(() => []);
  const [from, to] = [(newest - minutes + 1) * 60, (newest + 1) * 60];
  const series = { kind: 'tenant', id: tenantId } as const;
  const inPostgres = await readCounts(db, tenantId, { series, step: 60, from, to });
  return inRedis.flatMap((counts, i) => {
    const minute = (newest - i) * 60;
    const written = inPostgres.get(minute) ?? emptyCounts();
    return counts.requests > written.requests ? [[minute, countsBeyond(counts, written)]] : [];
  });
}
