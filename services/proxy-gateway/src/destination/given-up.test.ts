import { destinationPolicy } from '@sluice/destination-policy';
import { closeAll, open, outcomeOf, startScript, startServer, until } from '../testing/destination-servers.ts';
import { type DestinationOptions, type DestinationSink, forward, streamThrough } from './index.ts';

afterEach(closeAll);

const neverMs = 600_000;

/** Every look-up of a name waits until the test answers it. */
function heldNames(options: Partial<DestinationOptions> = {}) {
  const lookups: (() => void)[] = [];
  const policy = destinationPolicy({
    schemes: ['http'],
    allow: ['loopback'],
    deny: [],
    resolve: (_hostname, _options, callback) =>
      lookups.push(() => callback(null, [{ address: '127.0.0.1', family: 4 }])),
  });
  return { lookups, destinations: open({ policy, connectTimeoutMs: neverMs, headTimeoutMs: neverMs, ...options }) };
}

const byName = (origin: string) => origin.replace('127.0.0.1', 'name.example');

/** A call that must not hear anything, because it is given up. */
function silent(): { heard: string[]; sink: DestinationSink } {
  const heard: string[] = [];
  const sink = {
    onHead: () => heard.push('head'),
    onData: () => heard.push('data') > 0,
    onEnd: () => heard.push('end'),
    onError: () => heard.push('error'),
  };
  return { heard, sink };
}

describe.each([
  ['held', forward],
  ['streamed', streamThrough],
])('%s', (_, send: typeof forward) => {
  const requestTo = (origin: string, path = '/') => ({
    tenantId: 't',
    origin,
    path,
    method: 'GET',
    headers: [],
    body: undefined,
  });

  test('calls that are given up during a handshake leave no connection, and none is opened for them', async () => {
    const { origin, sockets } = await startScript(() => undefined);
    const destinations = open({ connectTimeoutMs: neverMs, headTimeoutMs: neverMs });
    const { heard, sink } = silent();
    const request = { ...requestTo(origin.replace('http', 'https')), method: 'POST', body: Buffer.alloc(5 << 20) };
    const calls = Array.from({ length: 20 }, () => send(request, destinations, sink));
    await until(() => sockets.length === 8);
    for (const call of calls) call.abort();
    await until(() => sockets.every(({ destroyed }) => destroyed));
    expect([heard, sockets.length]).toEqual([[], 8]);
  });

  test('one that is given up while its name is looked up makes room for one that waits, which is answered', async () => {
    const { origin, received } = await startServer();
    const { lookups, destinations } = heldNames({ maxConnectionsPerOrigin: 1 });
    const { heard, sink } = silent();
    const call = send(requestTo(byName(origin), '/left'), destinations, sink);
    const waiting = outcomeOf((other) => send(requestTo(byName(origin), '/waited'), destinations, other));
    await until(() => lookups.length === 1);
    call.abort();
    await until(() => lookups.length === 2);
    for (const answer of lookups) answer();
    expect(await waiting).toMatchObject({ status: 200, isWhole: true });
    expect([received.map(({ url }) => url), heard]).toEqual([['/waited'], []]);
  });

  test('one that is given up beside another that connects takes nothing from it', async () => {
    const { origin, received } = await startServer();
    const { lookups, destinations } = heldNames();
    const { heard, sink } = silent();
    const call = send(requestTo(byName(origin), '/left'), destinations, sink);
    const other = outcomeOf((heardBy) => send(requestTo(byName(origin), '/stayed'), destinations, heardBy));
    await until(() => lookups.length === 2);
    call.abort();
    for (const answer of lookups) answer();
    expect(await other).toMatchObject({ status: 200, isWhole: true });
    expect([received.map(({ url }) => url), heard]).toEqual([['/stayed'], []]);
  });

  test('one whose time is over while it connects makes room too', async () => {
    const { origin } = await startServer();
    const { lookups, destinations } = heldNames({ maxConnectionsPerOrigin: 1, headTimeoutMs: 300 });
    const late = outcomeOf((sink) => send(requestTo(byName(origin)), destinations, sink));
    expect((await late).error).toMatchObject({ code: 'destination_timeout' });
    const next = outcomeOf((sink) => send(requestTo(byName(origin)), destinations, sink));
    await until(() => lookups.length === 2);
    lookups[1]?.();
    expect(await next).toMatchObject({ status: 200, isWhole: true });
  });

  test('one that is sent again, and given up while it connects, makes room too', async () => {
    const { origin, sockets } = await startScript((socket, connection) => {
      let requests = 0;
      socket.on('data', () => {
        if (connection === 0 && requests++ > 0) socket.destroy();
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
    });
    const { lookups, destinations } = heldNames({ maxConnectionsPerOrigin: 1 });
    const run = () => outcomeOf((sink) => send(requestTo(byName(origin)), destinations, sink));
    const first = run();
    lookups[0]?.();
    expect(await first).toMatchObject({ body: 'ok', isWhole: true });
    const { heard, sink } = silent();
    const call = send(requestTo(byName(origin)), destinations, sink);
    await until(() => lookups.length === 2);
    call.abort();
    const last = run();
    await until(() => lookups.length === 3);
    lookups[2]?.();
    expect(await last).toMatchObject({ body: 'ok', isWhole: true });
    expect([heard, sockets.length]).toEqual([[], 2]);
  });

  test('one that is given up before its connection is begun is not connected for', async () => {
    const { origin, received } = await startServer((_request, response) => {
      response.setHeader('Connection', 'close').end();
    });
    const { lookups, destinations } = heldNames({ maxConnectionsPerOrigin: 1 });
    const { heard, sink } = silent();
    const left = () => send(requestTo(byName(origin), '/left'), destinations, sink);
    const calls: { abort(): void }[] = [];
    // The slot passes on in the next tick, while the connection of the first call is still closing
    const abortSoon = () => process.nextTick(() => process.nextTick(() => calls[0]?.abort()));
    const first = new Promise<void>((resolve, reject) => {
      const onEnd = () => {
        abortSoon();
        resolve();
      };
      const quiet = { onHead() {}, onData: () => true, onEnd, onError: reject };
      send(requestTo(byName(origin), '/first'), destinations, quiet);
    });
    calls.push(left());
    await until(() => lookups.length === 1);
    lookups[0]?.();
    await first;
    const last = outcomeOf((other) => send(requestTo(byName(origin), '/last'), destinations, other));
    await until(() => destinations.state().waiting === 0);
    await until(() => lookups.length > 1);
    const timer = setInterval(() => lookups.at(-1)?.(), 5);
    expect(await last).toMatchObject({ status: 200 });
    clearInterval(timer);
    expect([received.map(({ url }) => url), heard]).toEqual([['/first', '/last'], []]);
  });
});
