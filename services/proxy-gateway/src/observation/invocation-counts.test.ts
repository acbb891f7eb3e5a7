import { randomUUID } from 'node:crypto';
import { connectDatabase, type Database } from '@sluice/database';
import { type MinuteOfSeries, mostSeries } from '@sluice/invocation-feed';
import { serviceLogger } from '@sluice/service-runtime';
import { call, eventually, openTestDatabase, slow, startChaosProxy, useStack } from '@sluice/testing';
import { Registry } from 'prom-client';
import { reactAt } from '../testing/react-at.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import { InvocationCounts, openInvocationCounts } from './invocation-counts.ts';

const minuteMs = 60_000;

interface Ending {
  tenantId?: string;
  ownerId?: string;
  callerId?: string;
  errorCode?: string;
  destinationStatus?: number;
}

function ended({ tenantId = 'tenant', ownerId = 'proxy', callerId, errorCode, destinationStatus }: Ending = {}) {
  const caller = callerId === undefined ? undefined : { id: callerId };
  return { acting: { owner: { id: ownerId, tenantId }, caller }, errorCode, destinationStatus };
}

type Written = [tenantId: string, kind: string, id: string, minute: number, requests: number];

/** What one round writes. */
async function written(counts: InvocationCounts): Promise<Written[]> {
  const rows: Written[] = [];
  await counts.write(async (tenantId, minutes) => {
    for (const { series, minute, counts } of minutes) {
      rows.push([tenantId, series.kind, series.id, minute, counts.requests]);
    }
  });
  return rows.sort((a, b) => a.join().localeCompare(b.join()));
}

describe('notes', () => {
  test('an invocation counts for its Tenant, its Proxy or reactor, and its Application, in its minute', async () => {
    let now = 9 * minuteMs;
    const counts = new InvocationCounts({ now: () => now });
    counts.note(ended({ callerId: 'application' }), 1);
    counts.note(ended(), 1);
    now = 10 * minuteMs - 1;
    counts.note({ ...ended({ ownerId: 'reactor' }), isRun: true }, 1);
    now = 10 * minuteMs;
    counts.note(ended(), 1);
    counts.note({ ...ended(), acting: undefined }, 1); // of no Tenant
    expect(await written(counts)).toEqual([
      ['tenant', 'application', 'application', 9, 1],
      ['tenant', 'proxy', 'proxy', 10, 1],
      ['tenant', 'proxy', 'proxy', 9, 2],
      ['tenant', 'reactor', 'reactor', 9, 1],
      ['tenant', 'tenant', 'tenant', 10, 1],
      ['tenant', 'tenant', 'tenant', 9, 3],
    ]);
    expect([await written(counts), counts.waiting]).toEqual([[], 0]);
  });

  test('what a session invokes counts for the Application that authorized it', async () => {
    const counts = new InvocationCounts({ now: () => 0 });
    const { acting, ...rest } = ended();
    counts.note({ ...rest, acting: { ...acting, caller: { id: 'session', applicationId: 'its application' } } }, 1);
    expect((await written(counts)).map(([, kind, id]) => [kind, id])).toContainEqual([
      'application',
      'its application',
    ]);
  });

  test('what could not be written is written later, once, with what came meanwhile', async () => {
    const counts = new InvocationCounts({ now: () => 0 });
    counts.note(ended(), 1);
    const failing = counts.write(async () => {
      counts.note(ended(), 1);
      throw new Error('away');
    });
    await expect(failing).rejects.toThrow('away');
    expect([counts.waiting, counts.lost]).toEqual([2, 0]);
    expect((await written(counts)).map(([, , , , requests]) => requests)).toEqual([2, 2]);
    expect([await written(counts), counts.waiting]).toEqual([[], 0]);
  });

  test('of a Tenant with many series what was written is not written again when the rest fails', async () => {
    const counts = new InvocationCounts({ now: () => 0 });
    for (let i = 0; i < 1200; i++) counts.note(ended({ ownerId: `proxy-${i}` }), 1);
    const first: MinuteOfSeries[] = [];
    const failing = counts.write(async (_, minutes) => {
      if (first.length > 0) throw new Error('away');
      first.push(...minutes);
    });
    await expect(failing).rejects.toThrow('away');
    const rest = await written(counts);
    expect(new Set([...first.map(({ series }) => series.id), ...rest.map(([, , id]) => id)]).size).toBe(1201);
    expect(first.length + rest.length).toBe(1201);
  });

  test('a Tenant whose rows cannot be written keeps none from theirs; with Postgres away a round ends soon', async () => {
    const counts = new InvocationCounts({ now: () => 0 });
    const note = () => {
      for (let i = 0; i < 20; i++) counts.note(ended({ tenantId: `tenant-${i}` }), 1);
    };
    note();
    const done: string[] = [];
    const refused = counts.write(async (tenantId) => {
      if (tenantId === 'tenant-3') throw new Error('its shard is away');
      done.push(tenantId);
    });
    await expect(refused).rejects.toThrow('its shard');
    expect([done.length, counts.waiting]).toEqual([19, 2]);
    note();
    let tries = 0;
    const away = async () => {
      tries++;
      throw new Error('away');
    };
    await expect(counts.write(away)).rejects.toThrow('away');
    expect([tries, counts.waiting]).toEqual([3, 40]);
  });
});

describe('with Postgres away', () => {
  const away = async () => {
    throw new Error('away');
  };

  test('memory is bounded, and each invocation that finds no room is counted as lost', async () => {
    let now = 0;
    const counts = new InvocationCounts({ now: () => now, limit: 100 });
    for (let minute = 0; minute < 200; minute++) {
      now = minute * minuteMs;
      for (const tenantId of ['a', 'b']) counts.note(ended({ tenantId }), 1);
      await counts.write(away).catch(() => undefined);
    }
    expect([counts.waiting, counts.lost]).toEqual([100, 2 * 200 - 50]);
    const kept = await written(counts);
    expect(kept.filter(([, kind]) => kind === 'tenant').reduce((sum, [, , , , requests]) => sum + requests, 0)).toBe(
      50,
    );
    counts.note(ended(), 1);
    expect([counts.waiting, counts.lost]).toEqual([2, 350]);
  });

  test('a Tenant with many series leaves half of it to others', async () => {
    const counts = new InvocationCounts({ now: () => 0, limit: 100 });
    for (let i = 0; i < 1000; i++) counts.note(ended({ ownerId: `proxy-${i}` }), 1);
    expect([counts.waiting, counts.lost]).toEqual([50, 951]);
    counts.note(ended({ tenantId: 'other' }), 1);
    expect([counts.waiting, counts.lost]).toEqual([52, 951]);
  });
});

const database = useStack((stack) => openTestDatabase(stack));
const log = serviceLogger({ service: 'test', level: 'silent' });

async function createTenant(): Promise<string> {
  const id = randomUUID();
  await database.current.db.insertInto('tenants').values({ id, owner_id: randomUUID(), name: 'T' }).execute();
  return id;
}

interface Opened {
  db?: Database;
  now?: () => number;
  limit?: number;
  intervalMs?: number;
  metrics?: Registry;
}

const open = (stack: AsyncDisposableStack, options: Opened = {}) =>
  openInvocationCounts({ db: database.current.db, log, stack, metrics: new Registry(), ...options });

/** Counts these in a process that stops. */
async function count(endings: Ending[], options: Opened = {}): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const counts = open(stack, options);
  for (const each of endings) counts.note(ended(each), 7);
}

const rowsOf = (tenantId: string, db = database.current.db) =>
  db
    .selectFrom('invocation_counts')
    .select(['step', 'start', 'kind', 'id', 'requests', 'destination_errors', 'errors', 'durations'])
    .where('tenant_id', '=', tenantId)
    .orderBy('step')
    .orderBy('start')
    .orderBy('kind')
    .execute();

const requestsOf = async (tenantId: string, kind = 'tenant', db = database.current.db) =>
  (await rowsOf(tenantId, db)).filter((row) => row.kind === kind && row.step === 60).map(({ requests }) => requests);

describe('rows', () => {
  test('a process that stops has written all; those of several add up, in a row of each step', async () => {
    const [tenantId, ownerId, callerId] = [await createTenant(), randomUUID(), randomUUID()];
    const now = () => Date.UTC(2026, 2, 1, 23, 59, 59);
    const endings: Ending[] = [
      { errorCode: 'destination_timeout' },
      { destinationStatus: 503 },
      { destinationStatus: 499 },
      { errorCode: 'destination_timeout' },
    ];
    const each = endings.map((ending) => ({ tenantId, ownerId, callerId, ...ending }));
    await Promise.all([count(each, { now }), count(each.slice(0, 3), { now })]);
    const counts = {
      requests: 7,
      destination_errors: 2,
      errors: { destination_timeout: 3 },
      durations: { 49: 7 },
    };
    const starts = { 60: '23:59', 900: '23:45', 21600: '18:00' };
    expect(await rowsOf(tenantId)).toEqual(
      Object.entries(starts).flatMap(([step, time]) =>
        [
          { kind: 'application', id: callerId },
          { kind: 'proxy', id: ownerId },
          { kind: 'tenant', id: tenantId },
        ].map((series) => ({ step: Number(step), start: `2026-03-01T${time}:00.000Z`, ...series, ...counts })),
      ),
    );
  });

  test('a process that is killed has written what it counted before its last interval', async () => {
    const tenantId = await createTenant();
    const stack = new AsyncDisposableStack();
    const counts = open(stack, { intervalMs: 20, now: () => 0 });
    counts.note(ended({ tenantId, ownerId: randomUUID() }), 1);
    await eventually('it is written', async () => (await requestsOf(tenantId)).length > 0);
    expect(await requestsOf(tenantId)).toEqual([1]);
    await stack.disposeAsync();
  });

  test('nothing is written for a Tenant that is closed, and that is no loss', async () => {
    const [tenantId, other] = [await createTenant(), await createTenant()];
    const { db } = database.current;
    const closed_at = new Date().toISOString();
    await db.updateTable('tenants').set({ closed_at }).where('id', '=', tenantId).execute();
    const metrics = new Registry();
    const endings = [tenantId, randomUUID(), other].map((each) => ({ tenantId: each, ownerId: randomUUID() }));
    await count(endings, { metrics });
    expect([await rowsOf(tenantId), await requestsOf(other)]).toEqual([[], [1]]);
    expect(await metrics.metrics()).toContain('sluice_invocation_counts_lost_total 0');
  });

  test('the previous version, which does not know the table, leaves none when it deletes a Tenant', async () => {
    const tenantId = await createTenant();
    await count([{ tenantId, ownerId: randomUUID() }]);
    expect(await rowsOf(tenantId)).not.toEqual([]);
    await database.current.db.deleteFrom('tenants').where('id', '=', tenantId).execute();
    expect(await rowsOf(tenantId)).toEqual([]);
  });

  test('of more than 200 series in a step the rest are one row, also of gateways at once', async () => {
    const tenantId = await createTenant();
    const now = () => Date.UTC(2026, 2, 1);
    const some = Array.from({ length: 150 }, () => ({ tenantId, ownerId: randomUUID() }));
    const others = Array.from({ length: 150 }, () => ({ tenantId, ownerId: randomUUID() }));
    await Promise.all([count(some, { now }), count(others, { now })]);
    await count([...some, ...others], { now });
    for (const step of [60, 900, 21_600]) {
      const rows = (await rowsOf(tenantId)).filter((row) => row.step === step);
      const own = rows.filter(({ kind }) => kind === 'proxy');
      expect([own.length, ...new Set(own.map(({ requests }) => requests))]).toEqual([mostSeries, 2]);
      expect(rows.filter(({ kind }) => kind === 'rest')).toMatchObject([{ id: tenantId, requests: 200 }]);
      expect(rows.filter(({ kind }) => kind === 'tenant')).toMatchObject([{ requests: 600 }]);
    }
  });

  test('the busiest have rows of their own', async () => {
    const [tenantId, busy] = [await createTenant(), randomUUID()];
    const many = Array.from({ length: 300 }, () => ({ tenantId, ownerId: randomUUID() }));
    await count([...many, { tenantId, ownerId: busy }, { tenantId, ownerId: busy }]);
    const rows = await rowsOf(tenantId);
    expect(rows.filter(({ id }) => id === busy)).toHaveLength(3);
  });

  test('after Postgres was away nothing is missing', async () => {
    await using stack = new AsyncDisposableStack();
    const tenantId = await createTenant();
    const door = await startChaosProxy(database.current.url, stack);
    const db = connectDatabase({ DATABASE_URL: door.url, DATABASE_POOL_SIZE: 2 }, { stack, onError: () => undefined });
    let now = 0;
    const metrics = new Registry();
    const counts = open(stack, { db, intervalMs: 20, now: () => now, metrics });
    const failedWrites = async () =>
      Number(/^sluice_invocation_counts_failed_writes_total (\d+)$/m.exec(await metrics.metrics())?.[1]);
    const note = () => counts.note(ended({ tenantId, ownerId: randomUUID() }), 1);
    note();
    await eventually('it is written', async () => (await requestsOf(tenantId)).length === 1);
    await door.shut();
    for (now = minuteMs; now <= 5 * minuteMs; now += minuteMs) note();
    now = 5 * minuteMs;
    await eventually('a write fails', async () => (await failedWrites()) > 2);
    expect(await requestsOf(tenantId)).toEqual([1]);
    await door.open();
    await eventually('the rest is written', async () => (await requestsOf(tenantId)).length === 6);
    expect(await requestsOf(tenantId)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(await metrics.metrics()).toContain('sluice_invocation_counts_lost_total 0');
  });

  test('a process that holds many writes before the interval is over', async () => {
    await using stack = new AsyncDisposableStack();
    const tenantId = await createTenant();
    const counts = open(stack, { limit: 20, now: () => 0 });
    for (let i = 0; i < 9; i++) counts.note(ended({ tenantId, ownerId: randomUUID() }), 1);
    await eventually('it is written', async () => (await requestsOf(tenantId)).length === 1);
  });
});

slow('1 s')('a gateway counts invocations, refusals, errors of the destination and runs of reactors', async () => {
  await using stack = new AsyncDisposableStack();
  const { startAnother, createTenant: create, destination, db } = await startTestGateway(stack);
  const tenant = await create();
  destination.answer = (request, response) => void response.writeHead(Number(request.url?.slice(1))).end();
  const proxy = await tenant.proxy({ destination: destination.url });
  const { id: applicationId, key } = await tenant.application({ permissions: ['token:use', 'token:create'] });
  const reactor = await tenant.reactor({ code: 'module.exports = async () => ({ raw: 1 })' });
  {
    await using own = new AsyncDisposableStack();
    const { url } = await startAnother({}, { stack: own, draining: new AbortController().signal });
    const send = (path: string, asked?: string) =>
      call(url, 'POST', `/proxy${path}`, { headers: { 'SVC-PROXY-KEY': proxy.key }, ...(asked && { key: asked }) });
    expect((await send('/200', key)).status).toBe(200);
    expect((await send('/503', key)).status).toBe(503);
    expect((await send('/200')).status).toBe(401);
    expect((await reactAt(url, { id: reactor.id, key, body: {} })).status).toBe(200);
  }
  const rows = (await rowsOf(tenant.id, db)).filter(({ step }) => step === 21_600);
  const sums = rows.map(({ kind, id, requests, destination_errors, errors }) => ({
    ...{ kind, id, requests, destination_errors, errors },
  }));
  expect(sums).toEqual([
    { kind: 'application', id: applicationId, requests: 3, destination_errors: 1, errors: {} },
    { kind: 'proxy', id: proxy.id, requests: 3, destination_errors: 1, errors: { unauthenticated: 1 } },
    { kind: 'reactor', id: reactor.id, requests: 1, destination_errors: 0, errors: {} },
    { kind: 'tenant', id: tenant.id, requests: 4, destination_errors: 1, errors: { unauthenticated: 1 } },
  ]);
});
