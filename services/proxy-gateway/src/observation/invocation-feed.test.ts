import { FeedStore } from '@sluice/invocation-feed';
import { serviceLogger } from '@sluice/service-runtime';
import { call, eventually, openRedisDoor, slow, testRedisUrl, useStack } from '@sluice/testing';
import { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { startTestGateway } from '../testing/test-gateway.ts';
import { openInvocationFeed } from './invocation-feed.ts';
import { StageClock } from './stage-clock.ts';

const gateway = useStack(async (stack) => {
  const door = await openRedisDoor(stack);
  const started = await startTestGateway(stack, { REDIS_URL: door.url, TRANSFORM_CONSOLE: 'redacted' });
  const log = serviceLogger({ service: 'test', level: 'silent' });
  const redis = new Redis(testRedisUrl());
  stack.defer(() => redis.disconnect());
  return { ...started, door, redis, store: new FeedStore(testRedisUrl(), { log, stack }) };
});

const card = '4242424242424242';

async function invoke(parts: object = {}, { path = '/proxy', traceId = crypto.randomUUID(), ...options } = {}) {
  const { tenant, destination, url } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  const headers = { 'SVC-PROXY-KEY': proxy.key, 'SVC-TRACE-ID': traceId };
  const { status } = await call(url, 'POST', path, { body: { order: 7 }, headers, ...options });
  return { proxy, status, traceId, proxyKey: proxy.key };
}

const read = (tenantId = gateway.current.tenant.id) => gateway.current.store.read(tenantId, new Date());

async function recordOf(traceId: string) {
  const find = async () => (await read()).invocations.find(({ record }) => record.trace_id === traceId)?.record;
  await eventually('the invocation is told', async () => (await find()) !== undefined);
  return find();
}

test('tells method, statuses, stages, tokens and what a transform printed, and neither bodies, values, path nor query', async () => {
  const { tenant, redis } = gateway.current;
  const token = await tenant.token({ type: 'card', data: { number: card } });
  const { id: applicationId, key } = await tenant.application({ permissions: ['token:use'] });
  const requestTransform = `module.exports = async ({ args }) => { console.log('card', args.body.card.number); return {} }`;
  const body = { card: `{{ ${token} }}`, secret: 'a-secret-of-the-body' };
  const { proxy, traceId } = await invoke({ requestTransform, configuration: { K: 'a-configured-secret' } }, {
    path: '/proxy/a-secret-path?key=a-secret-query',
    key,
    body,
  } as never);
  const record = await recordOf(traceId);
  expect(record).toEqual({
    trace_id: traceId,
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    proxy_id: proxy.id,
    application_id: applicationId,
    method: 'POST',
    status: 200,
    destination_status: 200,
    stages_ms: {
      authenticate: expect.any(Number),
      detokenize: expect.any(Number),
      transform: expect.any(Number),
      destination: expect.any(Number),
      total: expect.any(Number),
    },
    token_ids: [token],
    console: [{ level: 'info', text: 'card [redacted]' }],
  });
  const kept = (await redis.xrange(`sluice:invocations:{${tenant.id}}`, '-', '+')).flat(2).join('\n');
  expect(kept).toContain(traceId);
  expect(kept).not.toMatch(/42424242|a-secret|a-configured|a-secret-path/);
});

test.each([
  ['http://127.0.0.1:1', 502, 'The destination could not be reached'],
  ['http://no-such-name.invalid', 502, 'The name of the destination was not found'],
])('tells why the destination %s sent no response', async (destinationUrl, expected, detail) => {
  const { traceId, status } = await invoke({ destination: destinationUrl });
  expect(status).toBe(expected);
  expect(await recordOf(traceId)).toMatchObject({ status, refused_by: 'destination_unreachable', detail });
});

test('tells no detail of any other error, because it may name parts of the request', async () => {
  const { key } = await gateway.current.tenant.application({ permissions: ['token:use'] });
  const { traceId, status } = await invoke({}, { key, body: { a: "{{ 'x' | no_such_filter }}" } } as never);
  expect(status).toBe(400);
  expect(await recordOf(traceId)).not.toHaveProperty('detail');
});

test('tells what was refused and why, and nothing of who names no Proxy', async () => {
  const { url } = gateway.current;
  const { traceId, status } = await invoke({ requireAuth: true });
  expect(status).toBe(401);
  expect(await recordOf(traceId)).toMatchObject({ status: 401, refused_by: 'unauthenticated', token_ids: [] });
  await call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': 'unknown', 'SVC-TRACE-ID': 'of-nobody' } });
  const { traceId: later } = await invoke();
  await recordOf(later);
  expect((await read()).invocations.map(({ record }) => record.trace_id)).not.toContain('of-nobody');
});

test('a Tenant sees its own invocations only', async () => {
  const { stranger } = gateway.current;
  await recordOf((await invoke()).traceId);
  expect((await read(stranger.id)).invocations).toEqual([]);
});

test('requests, errors and durations are added up by the minute', async () => {
  const { tenant, store } = gateway.current;
  const now = Math.floor(Date.now() / 60_000);
  const total = async () => {
    const minutes = await store.readFigures(tenant.id, [now, now + 1]);
    return {
      requests: minutes.reduce((sum, { requests }) => sum + requests, 0),
      refused: minutes.reduce((sum, { errors }) => sum + (errors.get('unauthenticated') ?? 0), 0),
      durations: minutes.reduce((sum, { durations }) => sum + [...durations.values()].reduce((a, b) => a + b, 0), 0),
    };
  };
  await recordOf((await invoke()).traceId);
  const before = await total();
  await invoke();
  await recordOf((await invoke({ requireAuth: true })).traceId);
  expect(await total()).toEqual({
    requests: before.requests + 2,
    refused: before.refused + 1,
    durations: before.durations + 2,
  });
});

const lost = async () =>
  Number(/^sluice_invocation_feed_lost_total (\d+)$/m.exec(await gateway.current.metrics.metrics())?.[1]);

test.each([
  ['frozen', async () => gateway.current.door.stall()],
  [
    'away',
    async () => {
      await gateway.current.door.shut();
      return () => void gateway.current.door.open();
    },
  ],
])(
  'with Redis %s invocations are answered, and what was left out is counted and shown as a gap',
  async (_, disturb) => {
    await recordOf((await invoke()).traceId);
    const before = await lost();
    const mend = await disturb();
    const { proxyKey, status } = await invoke();
    expect(status).toBe(200);
    await eventually('it is counted as lost', async () => (await lost()) > before);
    mend();
    const traceId = crypto.randomUUID();
    const { url } = gateway.current;
    await eventually('Redis is used again', async () => {
      await call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxyKey, 'SVC-TRACE-ID': traceId } });
      return (await read()).invocations.some(({ record }) => record.trace_id === traceId);
    });
    expect((await read()).skipped).toBeGreaterThan(0);
  },
);

test('with the data of Redis gone the feed begins anew', async () => {
  const { redis, tenant } = gateway.current;
  await recordOf((await invoke()).traceId);
  await redis.del(`sluice:invocations:{${tenant.id}}`, `sluice:invocations:{${tenant.id}}:count`);
  const { traceId } = await invoke();
  await recordOf(traceId);
  expect((await read()).invocations.map(({ position, record }) => [position, record.trace_id])).toEqual([[1, traceId]]);
});

test('of more than a thousand between two flushes the newest are told, and the rest counted', async () => {
  await using stack = new AsyncDisposableStack();
  const { store, tenant } = gateway.current;
  const log = serviceLogger({ service: 'test', level: 'silent' });
  const metrics = new Registry();
  const feed = openInvocationFeed({ REDIS_URL: testRedisUrl(), INVOCATION_FEED: 'on' }, { log, stack, metrics });
  const tenantId = crypto.randomUUID();
  const of = { request: { method: 'GET' }, response: { statusCode: 200 }, clock: new StageClock() };
  for (let i = 0; i < 2500; i++) {
    feed?.note({ ...of, acting: { owner: { id: tenant.id, tenantId } }, traceId: `trace-${i}` } as never, 1);
  }
  const page = () => store.read(tenantId, new Date());
  await eventually('the batch is told', async () => (await page()).invocations.length > 0);
  const { invocations, skipped } = await page();
  expect([invocations.length, skipped, invocations[0]?.position]).toEqual([1000, 0, 1501]);
  expect(invocations.map(({ record }) => record.trace_id)).toEqual(
    Array.from({ length: 1000 }, (_, i) => `trace-${i + 1500}`),
  );
  expect(await metrics.metrics()).toContain('sluice_invocation_feed_left_out_total 1500');
  const [{ requests } = { requests: 0 }] = await store.readFigures(tenantId, [Math.floor(Date.now() / 60_000)]);
  expect(requests).toBe(2500);
});

slow('0.5 s')('switched off, nothing is written', async () => {
  await using stack = new AsyncDisposableStack();
  const { startAnother, tenant, destination, redis } = gateway.current;
  const own = await startAnother({ INVOCATION_FEED: 'off' }, { stack, draining: new AbortController().signal });
  const other = await gateway.current.createTenant();
  const proxy = await other.proxy({ destination: destination.url, requireAuth: false });
  expect((await call(own.url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key } })).status).toBe(200);
  await recordOf((await invoke()).traceId);
  expect(await redis.exists(`sluice:invocations:{${other.id}}`)).toBe(0);
  expect(await redis.exists(`sluice:invocations:{${tenant.id}}`)).toBe(1);
});
