import { createServer, type Server } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createDestinationPolicy } from '@sluice/destination-policy';
import { freePort } from '@sluice/service-runtime/free-port';
import { closeAll, open, outcomeOf, startServer } from '../testing/destination-servers.ts';
import { type DestinationOptions, forward, streamThrough } from './index.ts';

afterEach(closeAll);

function listenAt(port: number): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'));
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

describe.each([
  ['held', forward],
  ['streamed', streamThrough],
])('%s', (_, send: typeof forward) => {
  function callerOf(origin: string, options: Partial<DestinationOptions>) {
    let dialled = 0;
    const policy = createDestinationPolicy({
      schemes: ['http'],
      allow: ['loopback'],
      deny: [],
      resolve(_hostname, _options, callback) {
        dialled++;
        callback(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    });
    const destinations = open({ policy, ...options });
    const call = async (tenantId = 'a') => {
      const request = { tenantId, origin, path: '/', method: 'GET', headers: [], body: undefined };
      return outcomeOf((sink) => send(request, destinations, sink));
    };
    return { call, dialled: () => dialled };
  }

  test('after enough failures the destination is left alone for a while, then tried once, then used', async () => {
    const port = await freePort();
    const { call, dialled } = callerOf(`http://name.example:${port}`, { breakerFailures: 2, breakerOpenMs: 600 });
    for (let i = 0; i < 2; i++) expect((await call()).error).toMatchObject({ status: 502 });
    for (let i = 0; i < 3; i++) expect((await call()).error).toMatchObject({ status: 503, retryAfterSeconds: 1 });
    expect(dialled()).toBe(2);
    await wait(650);
    expect((await call()).error).toMatchObject({ status: 502 });
    expect((await call()).error).toMatchObject({ status: 503 });
    expect(dialled()).toBe(3);
    const server = await listenAt(port);
    await wait(650);
    expect(await call()).toMatchObject({ status: 200 });
    expect(await call()).toMatchObject({ status: 200 });
    await new Promise((resolve) => server.close(resolve));
  });

  test('another Tenant finds out for itself', async () => {
    const { call, dialled } = callerOf(`http://name.example:${await freePort()}`, {
      breakerFailures: 1,
      breakerOpenMs: 5000,
    });
    expect((await call('a')).error).toMatchObject({ status: 502 });
    expect((await call('b')).error).toMatchObject({ status: 502 });
    expect((await call('a')).error).toMatchObject({ status: 503 });
    expect(dialled()).toBe(2);
  });

  test('answers of any status, and calls that are cut off, do not count', async () => {
    let answers = 0;
    const { origin } = await startServer((_request, response) => {
      if (answers++ % 2 === 0) response.writeHead(503).end();
      else response.destroy();
    });
    const { call } = callerOf(origin, { breakerFailures: 1, breakerOpenMs: 5000 });
    const codes = new Set<unknown>();
    for (let i = 0; i < 6; i++) codes.add(((await call()).error as { code?: string } | undefined)?.code);
    expect([...codes]).not.toContain('unavailable');
    expect(answers).toBeGreaterThanOrEqual(6);
  });

  test('by default it is off', async () => {
    const { call, dialled } = callerOf(`http://name.example:${await freePort()}`, {});
    for (let i = 0; i < 20; i++) expect((await call()).error).toMatchObject({ status: 502 });
    expect(dialled()).toBe(20);
  });
});
