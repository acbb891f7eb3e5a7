import { once } from 'node:events';
import { connect } from 'node:net';
import { call, eventually, openRedisDoor, slow, useStack } from '@sluice/testing';
import { Redis } from 'ioredis';
import { startTestGateway } from '../testing/test-gateway.ts';

const settings = {
  RATE_LIMIT_APPLICATION_PER_SECOND: '1',
  RATE_LIMIT_PROXY_PER_SECOND: '2',
  RATE_LIMIT_WINDOW_SECONDS: '10',
  RATE_LIMIT_REDIS_TIMEOUT_MS: '500',
};

const scene = useStack(async (stack) => {
  const door = await openRedisDoor(stack);
  const gateway = await startTestGateway(stack, { ...settings, REDIS_URL: door.url });
  const another = await gateway.startAnother();
  const redis = new Redis(door.url);
  stack.defer(() => redis.disconnect());
  return { ...gateway, door, redis, urls: [gateway.url, another.url] };
});

async function setUp() {
  const { tenant, destination } = scene.current;
  const application = await tenant.application();
  const proxy = await tenant.proxy({ destination: destination.url });
  return { application, proxy };
}

type Keys = Awaited<ReturnType<typeof setUp>>;

function invoke({ application, proxy }: Keys, gateway = 0, body?: unknown) {
  const url = scene.current.urls[gateway] ?? '';
  return call(url, 'POST', '/proxy', { key: application.key, headers: { 'SVC-PROXY-KEY': proxy.key }, body });
}

async function statuses(keys: Keys, count: number, gateway = 0): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: count }, () => invoke(keys, gateway)));
  return answers.map(({ status }) => status);
}

const count = (all: number[], status: number) => all.filter((one) => one === status).length;

/** Slow calls can take longer than a window; then as many pass again in each window that has begun since `from`. */
function expectLimited(all: number[], from: number, limit = 10): void {
  const windows = 1 + Math.floor((performance.now() - from) / 10_000);
  const passed = count(all, 200);
  expect(passed).toBeGreaterThanOrEqual(Math.min(limit, all.length));
  expect(passed).toBeLessThanOrEqual(limit * windows);
  expect(count(all, 429)).toBe(all.length - passed);
}

async function refusalOf(call: () => ReturnType<typeof invoke>) {
  let last = await call();
  await eventually('a refusal', async () => {
    if (last.status !== 429) last = await call();
    return last.status === 429;
  });
  return last;
}

test('an Application has its number of a window over all gateways together; beyond 429 says what to do', async () => {
  const keys = await setUp();
  const before = scene.current.destination.seen.length;
  const from = performance.now();
  const all = [...(await statuses(keys, 8, 0)), ...(await statuses(keys, 8, 1)), ...(await statuses(keys, 8, 0))];
  expectLimited(all, from);
  expect(scene.current.destination.seen.length - before).toBe(count(all, 200));
  const refused = await refusalOf(() => invoke(keys, 1));
  expect(refused.body.proxy_error).toMatchObject({
    type: 'urn:sluice:problem:too_many_requests',
    status: 429,
    detail:
      'This Application has reached its limit of 10 invocations in 10 seconds; try again after the time in Retry-After',
  });
  const retryAfter = Number(refused.headers.get('retry-after'));
  expect(retryAfter).toBeGreaterThanOrEqual(1);
  expect(retryAfter).toBeLessThanOrEqual(10);
  expect(refused.headers.get('svc-proxy-destination-status')).toBeNull();
  const other = { ...keys, application: await scene.current.tenant.application() };
  expect(await statuses(other, 1)).toEqual([200]);
});

test('an Application is counted, too, where a Proxy asks for no key and finds one when it puts a value back', async () => {
  const { tenant, destination } = scene.current;
  const application = await tenant.application();
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false });
  const token = await tenant.token({ data: '4242424242424242' });
  const answer = await refusalOf(() => invoke({ application, proxy }, 0, { card: `{{ ${token} }}` }));
  expect(answer.body.proxy_error.detail).toMatch(/^This Application has reached its limit of 10/);
  expect((await invoke({ application, proxy }, 0, { card: 'none' })).status).toBe(200);
});

test('a Proxy has its number over all Applications, and one of these beyond its own limit takes nothing of it', async () => {
  const { proxy, application } = await setUp();
  const { tenant } = scene.current;
  const from = performance.now();
  const ofFirst = await statuses({ proxy, application }, 30);
  expectLimited(ofFirst, from);
  const all: number[] = [];
  for (let i = 0; i < 2; i++) all.push(...(await statuses({ proxy, application: await tenant.application() }, 6, i)));
  expectLimited([...ofFirst.filter((status) => status === 200), ...all], from, 20);
  const refused = await refusalOf(async () => invoke({ proxy, application: await tenant.application() }));
  expect(refused.body.proxy_error.detail).toMatch(/^This Proxy has reached its limit of 20 invocations in 10 seconds/);
});

slow('0.6 s')('when the window is over, invocations pass again', async () => {
  const { url } = await scene.current.startAnother({ RATE_LIMIT_WINDOW_SECONDS: '1' });
  const gateway = scene.current.urls.push(url) - 1;
  const keys = await setUp();
  const statusNow = async () => (await invoke(keys, gateway)).status;
  await eventually('the end of the limit', async () => (await statusNow()) === 429);
  await eventually('the next window', async () => (await statusNow()) === 200);
});

test('callers that are not accepted use nothing up', async () => {
  const { proxy, application } = await setUp();
  const { tenant, stranger } = scene.current;
  const withoutPermission = await tenant.application({ permissions: ['token:read'] });
  for (const intruder of [withoutPermission, await stranger.application()]) {
    for (const status of await statuses({ proxy, application: intruder }, 10)) expect([403, 404]).toContain(status);
  }
  expect(await statuses({ proxy, application }, 1)).toEqual([200]);
});

test('Redis holds ids only, and for no longer than the window', async () => {
  const keys = await setUp();
  await statuses(keys, 1);
  const { redis } = scene.current;
  for (const [kind, id] of [
    ['application', keys.application.id],
    ['proxy', keys.proxy.id],
  ]) {
    expect(await redis.keys(`*${id}*`)).toEqual([`sluice:rate:${kind}:${id}`]);
    expect(await redis.get(`sluice:rate:${kind}:${id}`)).toBe('1');
    const ttlMs = await redis.pttl(`sluice:rate:${kind}:${id}`);
    expect(ttlMs).toBeGreaterThan(0);
    expect(ttlMs).toBeLessThanOrEqual(10_000);
  }
  expect(await redis.keys(`*${keys.application.key}*`)).toEqual([]);
});

async function sharedAgain(task: () => Promise<void>): Promise<void> {
  const { logLines } = scene.current;
  const from = logLines.length;
  await task();
  expect(logLines.slice(from).join('')).toContain('counts for rate limits by itself');
  await eventually('Redis is back', () =>
    logLines.slice(from).join('').includes('are shared with the other processes'),
  );
}

test('Redis frozen: the gateway counts by itself, and after the first no invocation waits', async () => {
  const keys = await setUp();
  await statuses(keys, 1);
  await sharedAgain(async () => {
    const thaw = scene.current.door.stall('to-client');
    await invoke(keys);
    // If each of the forty waited out the time limit for Redis, the test would take 20 s and fail
    const all: number[] = [];
    for (let i = 0; i < 40; i++) all.push((await invoke(keys)).status);
    expect(count(all, 200) + count(all, 429)).toBe(40);
    expect(count(all, 429)).toBeGreaterThan(0);
    thaw();
  });
});

test('Redis cut off: the same, and when it is back the gateways count together', async () => {
  const keys = await setUp();
  await statuses(keys, 1);
  await sharedAgain(async () => {
    await scene.current.door.shut();
    const from = performance.now();
    expectLimited(await statuses(keys, 20), from);
    await scene.current.door.open();
  });
  await eventually('they count together', async () => {
    const fresh = await setUp();
    const all = [...(await statuses(fresh, 8, 0)), ...(await statuses(fresh, 8, 1))];
    return count(all, 200) === 10;
  });
});

test('a body is not awaited before the refusal', async () => {
  const keys = await setUp();
  await refusalOf(() => invoke(keys));
  const { hostname, port } = new URL(scene.current.url);
  const socket = connect(Number(port), hostname);
  const { application, proxy } = keys;
  socket.write(
    `POST /proxy HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: ${application.key}\r\nSVC-PROXY-KEY: ${proxy.key}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
  );
  const [first] = await once(socket, 'data');
  expect(String(first)).toMatch(/^HTTP\/1\.1 429 /);
  socket.destroy();
});
