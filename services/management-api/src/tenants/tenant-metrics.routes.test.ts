import { randomUUID } from 'node:crypto';
import {
  bucketOf,
  type Counts,
  countInvocation,
  emptyCounts,
  FeedStore,
  mostSeries,
  type Series,
  writeCounts,
} from '@sluice/invocation-feed';
import { serviceLogger } from '@sluice/service-runtime';
import { openRedisDoor, testRedisUrl, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack(async (stack) => {
  const door = await openRedisDoor(stack);
  const management = await startTestManagement(stack, { REDIS_URL: door.url });
  const log = serviceLogger({ service: 'test', level: 'silent' });
  return { ...management, door, store: new FeedStore(testRedisUrl(), { log, stack }) };
});

const thisMinute = () => Math.floor(Date.now() / 60_000);
const day = 24 * 60;

interface Figures {
  from: string;
  to: string;
  step_s: number;
  known_from?: string;
  requests: (number | null)[];
  errors: Record<string, (number | null)[]>;
  destination_errors: (number | null)[];
  latency_ms: { p50: (number | null)[]; p99: (number | null)[] };
}

/** A Tenant that is old, in an installation that has counted for long. */
async function oldTenant() {
  const { anotherTenant, db, send, store } = api.current;
  const { tenant_id: tenantId, management_key: key } = await anotherTenant('T');
  await sql`update kysely_migration set timestamp = '2020-01-01T00:00:00.000Z'`.execute(db);
  await db.updateTable('tenants').set({ created_at: '2020-01-01T00:00:00.000Z' }).where('id', '=', tenantId).execute();
  const whole: Series = { kind: 'tenant', id: tenantId };
  const write = (minute: number, counts: Counts, series = whole) =>
    writeCounts(db, tenantId, [{ series, minute, counts }]);
  const tellRedis = (minute: number, counts: Counts) =>
    store.add(tenantId, { lines: [], skipped: 0, minutes: new Map([[minute, counts]]) });
  const get = async (query = ''): Promise<Figures> => {
    const { status, body } = await send('GET', `/tenants/self/metrics${query}`, { key });
    expect(status).toBe(200);
    return body;
  };
  return { tenantId, key, write, tellRedis, get };
}

function countsOf(...durations: number[]): Counts {
  const counts = emptyCounts();
  for (const ms of durations) countInvocation(counts, { errorCode: undefined, destinationStatus: 200 }, bucketOf(ms));
  return counts;
}

/** The minute in which each step begins that counted anything, with how much. */
function counted({ from, step_s, requests }: Figures): [minute: number, number | null][] {
  const first = Date.parse(from) / 60_000;
  return requests.flatMap((count, i) => (count === 0 ? [] : [[first + (i * step_s) / 60, count]]));
}

const startOf = (minute: number, stepMinutes: number) => Math.floor(minute / stepMinutes) * stepMinutes;

test('requests, errors, errors of destinations and latency are by minute, the last one under way', async () => {
  const { write, get } = await oldTenant();
  const minute = thisMinute() - 1;
  const counts = countsOf(1, 1);
  countInvocation(counts, { errorCode: 'destination_timeout', destinationStatus: undefined }, bucketOf(100));
  countInvocation(counts, { errorCode: undefined, destinationStatus: 503 }, bucketOf(1));
  await write(minute, counts);
  const figures = await get();
  expect([figures.step_s, figures.requests.length, figures.known_from]).toEqual([60, 60, undefined]);
  expect(Date.parse(figures.to) - Date.parse(figures.from)).toBe(3_600_000);
  expect(counted(figures)).toEqual([[minute, 4]]);
  const at = figures.requests.indexOf(4);
  expect([figures.errors.destination_timeout?.[at], figures.destination_errors[at]]).toEqual([1, 1]);
  expect([figures.latency_ms.p50[at - 1], figures.requests[at - 1]]).toEqual([null, 0]);
  expect(Math.abs((figures.latency_ms.p50[at] ?? 0) - 1)).toBeLessThan(0.06);
  expect(Math.abs((figures.latency_ms.p99[at] ?? 0) - 100)).toBeLessThan(6);
});

test.each([
  ['hour', 1, 60],
  ['day', 15, 96],
  ['week', 120, 84],
  ['month', 360, 120],
])('a %s has steps of %d minutes, which begin at multiples of these', async (range, stepMinutes, steps) => {
  const { write, get } = await oldTenant();
  const last = startOf(thisMinute(), stepMinutes);
  const before = last - 3 * stepMinutes;
  // The edges of one step, and the step after it
  for (const minute of new Set([before, before + stepMinutes - 1, before + stepMinutes]))
    await write(minute, countsOf(1));
  await write(last - steps * stepMinutes - 1, countsOf(1)); // no longer shown
  const figures = await get(`?range=${range}`);
  expect([figures.step_s, figures.requests.length]).toEqual([stepMinutes * 60, steps]);
  const lists = [...Object.values(figures.errors), ...Object.values(figures.latency_ms), figures.destination_errors];
  for (const list of lists) expect(list).toHaveLength(steps);
  expect(counted(figures).filter(([minute]) => minute <= before + stepMinutes)).toEqual([
    [before, stepMinutes === 1 ? 1 : 2],
    [before + stepMinutes, 1],
  ]);
  expect(Date.parse(figures.to) / 60_000).toBeGreaterThanOrEqual(last + stepMinutes);
});

describe('what Redis has of a minute', () => {
  test('completes what Postgres has, and is not added to it', async () => {
    const { write, tellRedis, get } = await oldTenant();
    const minute = thisMinute() - 1;
    await write(minute, countsOf(1, 1, 1));
    await tellRedis(minute, countsOf(1, 1, 1, 900, 900));
    await write(minute - 1, countsOf(1, 1, 1));
    await tellRedis(minute - 1, countsOf(1));
    expect(counted(await get())).toEqual([
      [minute - 1, 3],
      [minute, 5],
    ]);
    const month = await get('?range=month');
    expect(month.requests.reduce<number>((sum, count) => sum + (count ?? 0), 0)).toBe(8);
  });

  test('costs nothing while Redis does not answer', async () => {
    const { write, tellRedis, get } = await oldTenant();
    const minute = thisMinute() - 1;
    await write(minute, countsOf(1, 1));
    await tellRedis(minute, countsOf(1, 1, 1));
    const mend = api.current.door.stall();
    expect(counted(await get())).toEqual([[minute, 2]]);
    mend();
  });
});

describe('what is not known is null, and 0 only what is', () => {
  test('for a Tenant before it was created', async () => {
    const { tenantId, get } = await oldTenant();
    const minute = thisMinute() - 10;
    const created_at = new Date(minute * 60_000 + 30_000).toISOString();
    await api.current.db.updateTable('tenants').set({ created_at }).where('id', '=', tenantId).execute();
    const { from, requests, destination_errors, latency_ms, known_from } = await get();
    const at = minute - Date.parse(from) / 60_000;
    expect(known_from).toBe(created_at);
    expect([requests[at - 1], destination_errors[at - 1], latency_ms.p50[at - 1]]).toEqual([null, null, null]);
    expect([requests[0], requests[at], requests.at(-1)]).toEqual([null, 0, 0]);
  });

  test('for an older one before the installation counted', async () => {
    const { get } = await oldTenant();
    const since = new Date(Date.now() - 3 * day * 60_000).toISOString();
    await sql`update kysely_migration set timestamp = ${since} where name = '0087-invocation-counts'`.execute(
      api.current.db,
    );
    const { requests, known_from } = await get('?range=week');
    expect([known_from, requests[0], requests.at(-1)]).toEqual([since, null, 0]);
    expect(requests.filter((count) => count === null).length).toBe(requests.lastIndexOf(null) + 1);
    expect((await get('?range=day')).known_from).toBeUndefined();
  });
});

describe('of one Proxy, Application or reactor', () => {
  test.each(['proxy', 'application', 'reactor'] as const)('only what a %s counted', async (kind) => {
    const { tenantId, write, get } = await oldTenant();
    const [id, other] = [randomUUID(), randomUUID()];
    const minute = thisMinute() - 20;
    await write(minute, countsOf(1, 1), { kind, id });
    await write(minute, countsOf(1), { kind, id: other });
    await write(minute, countsOf(1, 1, 1));
    for (const range of ['hour', 'day', 'week', 'month']) {
      expect(counted(await get(`?range=${range}&${kind}_id=${id}`)).map(([, count]) => count)).toEqual([2]);
    }
    // Neither the Tenant nor what nobody knows has counts as one of them
    for (const none of [tenantId, randomUUID()]) expect(counted(await get(`?${kind}_id=${none}`))).toEqual([]);
  });

  test('another Tenant sees nothing of it', async () => {
    const [one, other] = [await oldTenant(), await oldTenant()];
    const id = randomUUID();
    await one.write(thisMinute() - 1, countsOf(1), { kind: 'proxy', id });
    await one.write(thisMinute() - 1, countsOf(1));
    expect(await other.get(`?proxy_id=${id}`)).toEqual(await other.get(`?proxy_id=${randomUUID()}`));
    expect(counted(await other.get())).toEqual([]);
    expect(counted(await one.get(`?proxy_id=${id}`))).toHaveLength(1);
  });

  test('null where it may be among those beyond the limit of a step, and exact where it is not', async () => {
    const { tenantId, get } = await oldTenant();
    const minute = thisMinute() - 30;
    const ids = Array.from({ length: mostSeries + 1 }, () => randomUUID());
    const minutes = ids.map((id, i) => ({
      ...{ series: { kind: 'proxy', id } as const, minute },
      counts: i === 0 ? countsOf(1) : countsOf(1, 1),
    }));
    await writeCounts(api.current.db, tenantId, minutes);
    expect(counted(await get(`?proxy_id=${ids[0]}`))).toEqual([[minute, null]]);
    expect(counted(await get(`?proxy_id=${ids[1]}`))).toEqual([[minute, 2]]);
    expect(counted(await get(`?range=week&proxy_id=${ids[0]}`))).toEqual([[startOf(minute, 120), null]]);
  });
});

describe('refused', () => {
  test.each([
    ['two filters', `?proxy_id=${randomUUID()}&reactor_id=${randomUUID()}`, 'reactor_id'],
    ['an unknown range', '?range=year', 'range'],
    ['an id that is none', '?application_id=x', 'application_id'],
  ])('%s, by name', async (_, query, member) => {
    const { status, body } = await api.current.send('GET', `/tenants/self/metrics${query}`);
    expect(status).toBe(400);
    expect(Object.keys(body.errors)).toEqual([member]);
  });

  test('a key without report:read', async () => {
    const key = await api.current.keyWith('log:read');
    expect((await api.current.send('GET', '/tenants/self/metrics', { key })).status).toBe(403);
  });
});
