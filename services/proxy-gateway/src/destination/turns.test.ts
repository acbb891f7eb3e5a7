import type { ServerResponse } from 'node:http';
import { closeAll, open, outcomeOf, startServer, until } from '../testing/destination-servers.ts';
import { forward, streamThrough } from './index.ts';

afterEach(closeAll);

async function setUp(limits: { maxConnectionsPerOrigin: number; maxWaitingPerOrigin: number }) {
  const arrived: { who: string; response: ServerResponse }[] = [];
  const { origin } = await startServer((request, response) => {
    arrived.push({ who: `${request.headers['x-who']}`, response });
  });
  const destinations = open(limits);
  const refused: string[] = [];
  const call = (proxyId: string, callerId = 'c', send: typeof forward = forward) => {
    const who = `${proxyId}${callerId}`;
    const headers = ['X-Who', who];
    const request = { tenantId: 't', origin, path: '/', method: 'POST', headers, body: undefined, proxyId, callerId };
    return outcomeOf((sink) => send(request, destinations, sink)).then((outcome) => {
      if (outcome.error) refused.push(who);
      return outcome;
    });
  };
  const answerAll = async (count: number) => {
    for (let i = 0; i < count; i++) {
      await until(() => arrived.length > i);
      arrived[i]?.response.end();
    }
    return arrived.map(({ who }) => who);
  };
  return { call, destinations, arrived, refused, answerAll };
}

test('a Proxy that holds all connections and has many waiting lets another take the next', async () => {
  const { call, destinations, answerAll } = await setUp({ maxConnectionsPerOrigin: 2, maxWaitingPerOrigin: 20 });
  const calls = Array.from({ length: 8 }, () => call('slow'));
  await until(() => destinations.state().waiting === 6);
  calls.push(call('b'), call('b'));
  const order = await answerAll(10);
  expect(order.slice(0, 5)).toEqual(['slowc', 'slowc', 'bc', 'slowc', 'bc']);
  await Promise.all(calls);
});

test('within a Proxy it goes in turn among its callers, and over both transports', async () => {
  const { call, destinations, answerAll } = await setUp({ maxConnectionsPerOrigin: 1, maxWaitingPerOrigin: 20 });
  const calls = [call('p', '1'), call('p', '1', streamThrough as typeof forward), call('p', '1')];
  await until(() => destinations.state().waiting === 2);
  calls.push(call('p', '2', streamThrough as typeof forward));
  expect(destinations.state().waiting).toBe(3);
  expect(await answerAll(4)).toEqual(['p1', 'p2', 'p1', 'p1']);
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
});

test('where as many wait as may, the newest call of who has most waiting is refused', async () => {
  const { call, destinations, refused, answerAll } = await setUp({
    maxConnectionsPerOrigin: 1,
    maxWaitingPerOrigin: 4,
  });
  const first = [call('a'), call('a'), call('a'), call('a'), call('b')];
  await until(() => destinations.state().waiting === 4);
  expect((await call('a')).error).toMatchObject({ status: 503, retryAfterSeconds: 1 });
  const others = [call('b'), call('c')];
  await until(() => refused.length === 3);
  expect(refused).toEqual(['ac', 'ac', 'bc']);
  expect(destinations.state()).toMatchObject({ waiting: 4, waitingRefusals: 3 });
  const order = await answerAll(5);
  expect(order.toSorted()).toEqual(['ac', 'ac', 'ac', 'bc', 'cc']);
  await Promise.all([...first, ...others]);
});

test('callers are told apart where one Proxy has most waiting', async () => {
  const { call, destinations, refused, answerAll } = await setUp({
    maxConnectionsPerOrigin: 1,
    maxWaitingPerOrigin: 3,
  });
  const calls = [call('p', '1'), call('p', '1'), call('p', '1'), call('p', '1')];
  await until(() => destinations.state().waiting === 3);
  calls.push(call('p', '2'));
  await until(() => refused.length === 1);
  expect(refused).toEqual(['p1']);
  const order = await answerAll(4);
  expect(order).toEqual(['p1', 'p2', 'p1', 'p1']);
  await Promise.all(calls);
});
