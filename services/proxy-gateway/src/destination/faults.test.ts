import { setImmediate } from 'node:timers/promises';
import { closeAll, open, outcomeOf, startScript, startServer, until } from '../testing/destination-servers.ts';
import { type DestinationRequest, type DestinationSink, type Destinations, forward, streamThrough } from './index.ts';

afterEach(closeAll);

function requestTo(origin: string, change: Partial<DestinationRequest> = {}): DestinationRequest {
  return { tenantId: 'tenant-1', origin, path: '/', method: 'GET', headers: [], body: undefined, ...change };
}

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe.each([
  ['forward', forward],
  ['streamThrough', streamThrough],
])('%s', (_, send: typeof forward) => {
  const run = async (request: DestinationRequest, destinations: Destinations = open()) => {
    const outcome = await outcomeOf((sink: DestinationSink) => send(request, destinations, sink));
    await setImmediate(); // the connection is free again
    return outcome;
  };

  describe('before the head', () => {
    test.each([
      ['closed', (socket: { end(): void }) => socket.end()],
      ['reset', (socket: { resetAndDestroy(): void }) => socket.resetAndDestroy()],
      ['no HTTP', (socket: { end(text: string): void }) => socket.end('SSH-2.0-x\r\n')],
      ['half a head', (socket: { end(text: string): void }) => socket.end('HTTP/1.1 200 OK\r\nX-')],
      [
        'a strange status',
        (socket: { end(text: string): void }) => socket.end('HTTP/1.1 042 X\r\nContent-Length: 0\r\n\r\n'),
      ],
      [
        'a protocol switch',
        (socket: { end(text: string): void }) =>
          socket.end('HTTP/1.1 101 X\r\nUpgrade: y\r\nConnection: upgrade\r\n\r\n'),
      ],
      [
        'too large a head',
        (socket: { end(text: string): void }) => socket.end(`HTTP/1.1 200 OK\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`),
      ],
    ])('%s is 502', async (__, play) => {
      const { origin } = await startScript((socket) => socket.once('data', () => play(socket)));
      const outcome = await run(requestTo(origin));
      expect(outcome.status).toBeUndefined();
      expect(outcome.error).toMatchObject({
        code: expect.stringMatching(/^destination_(failed|answer_unusable)$/),
        status: 502,
      });
    });

    test('silence is 504 in time, and the socket is freed', async () => {
      const { origin, sockets } = await startScript(() => undefined);
      const started = performance.now();
      const outcome = await run(requestTo(origin), open({ headTimeoutMs: 150 }));
      expect(outcome.error).toMatchObject({ code: 'destination_timeout', status: 504 });
      expect(performance.now() - started).toBeLessThan(8000);
      await until(() => sockets[0]?.destroyed === true);
    });

    test('the time counts for calls that wait for a connection, too', async () => {
      const { origin } = await startScript(() => undefined);
      const destinations = open({ headTimeoutMs: 150, maxConnectionsPerOrigin: 1 });
      const outcomes = await Promise.all([1, 2, 3].map(() => run(requestTo(origin), destinations)));
      for (const { error } of outcomes) expect(error).toMatchObject({ code: 'destination_timeout' });
    });

    test('a destination that is well again is reached again', async () => {
      const { origin } = await startScript((socket, connection) => {
        socket.on('data', () => (connection === 0 ? socket.destroy() : socket.write(ok)));
      });
      const destinations = open();
      expect((await run(requestTo(origin), destinations)).error).toBeDefined();
      expect(await run(requestTo(origin), destinations)).toMatchObject({ body: 'ok', isWhole: true });
    });
  });

  describe('a truncated body never looks whole', () => {
    test.each([
      ['by its length', 'Content-Length: 10\r\n\r\nhello', false],
      ['by its length, reset', 'Content-Length: 10\r\n\r\nhello', true],
      ['before its first byte', 'Content-Length: 10\r\n\r\n', false],
      ['inside a chunk', 'Transfer-Encoding: chunked\r\n\r\n10\r\nhello', false],
      ['between chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', false],
      ['between chunks, reset', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', true],
      ['that ends with the connection, reset', '\r\nhello', true],
      ['with a broken chunk', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n', false],
    ])('%s', async (__, rest, isReset) => {
      const { origin } = await startScript((socket) => {
        socket.once('data', () => {
          socket.write(`HTTP/1.1 200 OK\r\n${rest}`);
          setTimeout(() => (isReset ? socket.resetAndDestroy() : socket.end()), 50);
        });
      });
      const outcome = await run(requestTo(origin));
      expect(outcome).toMatchObject({ status: 200, isWhole: false });
      expect(outcome.error).toMatchObject({ code: 'destination_failed' });
    });

    test('the control: a body that ends with the connection in good order is whole', async () => {
      const { origin } = await startScript((socket) => {
        socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\nhello'));
      });
      expect(await run(requestTo(origin))).toMatchObject({ body: 'hello', isWhole: true });
    });
  });

  describe('sending again', () => {
    const closesKeptConnections = (last: 'destroy' | 'half') =>
      startScript((socket, connection) => {
        let requests = 0;
        socket.on('data', (chunk) => {
          requests += chunk.toString().split(' HTTP/1.1\r\n').length - 1;
          if (connection > 0 || requests === 1) socket.write(ok);
          else if (last === 'half') socket.end('HTTP/1.1 2');
          else socket.destroy();
        });
      });

    test.each(['GET', 'PUT', 'DELETE'])(
      '%s is sent again over a new connection when a kept one was closed',
      async (method) => {
        const { origin, texts } = await closesKeptConnections('destroy');
        const destinations = open();
        const body = method === 'GET' ? undefined : Buffer.from('x');
        await run(requestTo(origin), destinations);
        expect(await run(requestTo(origin, { method, body }), destinations)).toMatchObject({
          body: 'ok',
          isWhole: true,
        });
        expect(texts.length).toBe(2);
      },
    );

    test.each(['POST', 'PATCH'])('%s is never sent twice', async (method) => {
      const { origin, texts } = await closesKeptConnections('destroy');
      const destinations = open();
      await run(requestTo(origin), destinations);
      const outcome = await run(requestTo(origin, { method, body: Buffer.from('x') }), destinations);
      expect(outcome.error).toMatchObject({ code: 'destination_failed' });
      expect(texts.join('').split(`${method} / `).length - 1).toBe(1);
    });

    test('nothing is sent again once a byte of the response has come', async () => {
      const { origin, texts } = await closesKeptConnections('half');
      const destinations = open();
      await run(requestTo(origin), destinations);
      expect((await run(requestTo(origin), destinations)).error).toMatchObject({ code: 'destination_failed' });
      expect(texts.join('').split('GET / ').length - 1).toBe(2);
    });

    test('a new connection that is closed is not tried again', async () => {
      const { origin, texts } = await startScript((socket) => socket.once('data', () => socket.destroy()));
      expect((await run(requestTo(origin))).error).toMatchObject({ code: 'destination_failed' });
      expect(texts.length).toBe(1);
    });

    test('it is sent again only once', async () => {
      const { origin, texts } = await startScript((socket, connection, bytes) => {
        socket.on('data', () => {
          if (connection === 0 && bytes().split('GET ').length === 2) socket.write(ok);
          else socket.destroy();
        });
      });
      const destinations = open();
      await run(requestTo(origin), destinations);
      expect((await run(requestTo(origin), destinations)).error).toMatchObject({ code: 'destination_failed' });
      expect(texts.join('').split('GET / ').length - 1).toBe(3);
    });

    test('two connections that are closed while idle do no harm', async () => {
      const { origin, received, server } = await startServer();
      const destinations = open();
      await Promise.all([run(requestTo(origin), destinations), run(requestTo(origin), destinations)]);
      server.closeAllConnections();
      const outcomes = await Promise.all([run(requestTo(origin), destinations), run(requestTo(origin), destinations)]);
      expect(outcomes).toMatchObject([{ isWhole: true }, { isWhole: true }]);
      expect(received.length).toBe(4);
    });
  });

  test('an answer before the request was read arrives', async () => {
    const { origin } = await startScript((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig'));
    });
    const outcome = await run(requestTo(origin, { method: 'POST', body: Buffer.alloc(100_000) }));
    expect(outcome).toMatchObject({ status: 413, body: 'big', isWhole: true });
  });

  test('a sink that throws ends its own call and nothing else', async () => {
    const { origin } = await startScript((socket) => socket.on('data', () => socket.write(ok)));
    const destinations = open();
    for (const fault of ['onHead', 'onData']) {
      const error = await new Promise<Error>((resolve, reject) => {
        const sink: DestinationSink = {
          onHead: () => undefined,
          onData: () => true,
          onEnd: () => reject(new Error('ended well')),
          onError: resolve,
        };
        send(requestTo(origin), destinations, {
          ...sink,
          [fault]: () => {
            throw new Error('fault of the sink');
          },
        });
      });
      expect(error.cause).toMatchObject({ message: 'fault of the sink' });
      expect(error).not.toHaveProperty('code'); // it is ours, and no fault of the destination
    }
    expect(await run(requestTo(origin), destinations)).toMatchObject({ isWhole: true });
  });

  test('a sink that is full holds the destination back', async () => {
    const sizeBytes = 64 << 20;
    const { origin } = await startServer((_, response) => {
      response.end(Buffer.alloc(sizeBytes));
    });
    let gotBytes = 0;
    let isOpen = false;
    const ended = new Promise<void>((resolve, reject) => {
      const call = send(requestTo(origin), open(), {
        onHead() {},
        onData(chunk) {
          if (gotBytes === 0) setTimeout(goOn, 200);
          gotBytes += chunk.length;
          return isOpen;
        },
        onEnd: () => (isOpen ? resolve() : reject(new Error('nothing held it back'))),
        onError: reject,
      });
      function goOn() {
        if (gotBytes > 1 << 20) reject(new Error(`${gotBytes} bytes`));
        isOpen = true;
        call.resume();
      }
    });
    await ended;
    expect(gotBytes).toBe(sizeBytes);
  });

  test('Tenants do not share connections', async () => {
    const { origin, received } = await startServer();
    const destinations = open();
    for (const tenantId of ['a', 'b', 'a']) await run(requestTo(origin, { tenantId }), destinations);
    const [a, b, again] = received.map(({ port }) => port);
    expect(a).not.toBe(b);
    expect(again).toBe(a);
  });
});
