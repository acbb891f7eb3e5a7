import { call, eventually, useStack } from '@sluice/testing';
import { okAnswer } from '@sluice/testing/raw';
import { closeScenes, openScene } from '../testing/scene.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const scene = useStack((stack) =>
  startTestGateway(stack, {
    TENANT_MAX_IN_FLIGHT: '30',
    DESTINATION_MAX_CONNECTIONS: '10',
    DESTINATION_MAX_WAITING: '5',
    DESTINATION_CONNECT_TIMEOUT_MS: '600000',
  }),
);
afterEach(closeScenes);

interface Keys {
  key: string;
  proxyKey: string;
}

function invoke({ key, proxyKey }: Keys, contentType = 'application/json') {
  const headers = { 'SVC-PROXY-KEY': proxyKey, 'Content-Type': contentType };
  return call(scene.current.url, 'POST', '/proxy', { key, headers, body: '{}' });
}

async function openHanging() {
  let letGo = () => {};
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const { destination, keys } = await openScene(scene.current, {
    onRequest: (socket) => void released.then(() => socket.write(okAnswer('late'))),
  });
  const [, key = ''] = /API-KEY: (\S+)/.exec(keys) ?? [];
  const [, proxyKey = ''] = /PROXY-KEY: (\S+)/.exec(keys) ?? [];
  return { destination, keys: { key, proxyKey }, letGo };
}

function start(count: number, invocation: () => ReturnType<typeof invoke>) {
  const settled: Awaited<ReturnType<typeof invoke>>[] = [];
  const all = Promise.all(
    Array.from({ length: count }, async () => {
      settled.push(await invocation());
    }),
  );
  return { settled, all };
}

async function countUnderWay(): Promise<number> {
  const text = await scene.current.metrics.getSingleMetricAsString('sluice_invocations_in_flight');
  return Number(/^sluice_invocations_in_flight (\d+)$/m.exec(text)?.[1]);
}

async function stranger(): Promise<Keys> {
  const { stranger: other, destination } = scene.current;
  const proxy = await other.proxy({ destination: destination.url });
  return { key: (await other.application()).key, proxyKey: proxy.key };
}

test('a Tenant whose destinations hang has its share, and another Tenant is served as ever', async () => {
  const hanging = await Promise.all([openHanging(), openHanging(), openHanging()]);
  const flood = start(90, () => invoke(hanging[Math.floor(Math.random() * 3)]?.keys ?? { key: '', proxyKey: '' }));
  await eventually('the refusals', () => flood.settled.length >= 60);
  const other = await stranger();
  const served = start(10, () => invoke(other));
  await served.all;
  expect(served.settled.map(({ status }) => status)).toEqual(Array(10).fill(200));
  for (let i = 0; i < 50; i++) expect((await invoke(other)).status).toBe(200);
  expect(flood.settled.every(({ status, headers }) => status === 503 && headers.get('retry-after') === '1')).toBe(true);
  expect(flood.settled.length).toBeLessThan(90);

  for (const { letGo } of hanging) letGo();
  await flood.all;
  const statuses = flood.settled.map(({ status }) => status);
  const served200 = statuses.filter((status) => status === 200).length;
  expect(served200).toBeGreaterThan(0);
  expect(served200).toBeLessThanOrEqual(30);
  for (let round = 0; round < 3; round++) {
    const all = start(10, () => invoke(hanging[0]?.keys ?? other));
    await all.all;
    expect(all.settled.map(({ status }) => status)).toEqual(Array(10).fill(200));
  }
});

test.each([
  ['held', 'application/json'],
  ['streamed', 'image/png'],
])('calls that wait for a connection are bounded, %s; other destinations of the Tenant are served', async (_, type) => {
  const { keys, letGo, destination } = await openHanging();
  const flood = start(25, () => invoke(keys, type));
  await eventually('the refusals', () => flood.settled.length === 10);
  for (const { status, headers, body } of flood.settled) {
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(body.proxy_error.detail).toBe(
      'Too many calls are queued for a connection to the destination; try again later',
    );
  }
  await eventually('the connections', () => destination.sockets.length === 10);
  const elsewhere = await openHanging();
  elsewhere.letGo();
  for (let i = 0; i < 10; i++) expect((await invoke(elsewhere.keys, type)).status).toBe(200);
  letGo();
  await flood.all;
  expect(flood.settled.filter(({ status }) => status === 200)).toHaveLength(15);
  expect(destination.sockets.length).toBe(10);
  expect((await invoke(keys, type)).status).toBe(200);
});

test('callers that leave give their places back', async () => {
  const { keys } = await openHanging();
  const headers = { 'SVC-API-KEY': keys.key, 'SVC-PROXY-KEY': keys.proxyKey };
  const leaving = new AbortController();
  let refused = 0;
  const left = Array.from({ length: 20 }, async () => {
    const answer = await fetch(`${scene.current.url}/proxy`, { headers, signal: leaving.signal });
    if (answer.status === 503) refused += 1;
  });
  const outcomes = Promise.all(left.map((call) => call.catch(({ name }: Error) => name)));
  await eventually('the other fifteen have all places', () => refused === 5);
  leaving.abort();
  expect((await outcomes).filter((name) => name === 'AbortError')).toHaveLength(15);
  const other = await openHanging();
  other.letGo();
  await eventually('thirty at once', async () => {
    const all = start(10, () => invoke(other.keys));
    await all.all;
    return all.settled.every(({ status }) => status === 200);
  });
});

test.each([
  ['held', 'application/json'],
  ['streamed', 'image/png'],
])(
  'callers that leave during a handshake leave no connection, so a Tenant has no more than its share, %s',
  async (_, type) => {
    const { tenant, url } = scene.current;
    const application = await tenant.application();
    for (let round = 0; round < 3; round++) {
      const silent = await Promise.all([1, 2, 3].map(() => openScene(scene.current, {})));
      const sockets = () => silent.flatMap(({ destination }) => destination.sockets);
      const leaving = new AbortController();
      const left = silent.map(async ({ destination }) => {
        const proxy = await tenant.proxy({ destination: destination.url.replace('http', 'https') });
        const headers = { 'SVC-API-KEY': application.key, 'SVC-PROXY-KEY': proxy.key, 'Content-Type': type };
        const post = { method: 'POST', headers, body: '{}', signal: leaving.signal };
        return Promise.all(
          Array.from({ length: 10 }, () => fetch(`${url}/proxy`, post).catch(({ name }: Error) => name)),
        );
      });
      await eventually('thirty handshakes', () => sockets().length === 30);
      leaving.abort();
      expect((await Promise.all(left)).flat()).toEqual(Array(30).fill('AbortError'));
      await eventually('no connection is left', () => sockets().every(({ destroyed }) => destroyed));
      await eventually('all places are free', async () => (await countUnderWay()) === 0);
    }
  },
);
