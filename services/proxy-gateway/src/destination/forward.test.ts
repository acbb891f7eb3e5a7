import { destinationPolicy } from '@sluice/destination-policy';
import { closeAll, open, outcomeOf, startScript, startServer, until } from '../testing/destination-servers.ts';
import { type DestinationRequest, forward } from './index.ts';

afterEach(closeAll);

function requestTo(origin: string, change: Partial<DestinationRequest> = {}): DestinationRequest {
  return { tenantId: 'tenant-1', origin, path: '/', method: 'GET', headers: [], body: undefined, ...change };
}

describe('forward', () => {
  test('sends method, path, headers and body as they are, with framing and Host of its own', async () => {
    const { origin, received } = await startServer();
    const headers = ['X-One', '1', 'x-one', '2', 'Content-Type', 'text/plain; é'];
    const request = requestTo(origin, { method: 'POST', path: "/a//b?q='x'", headers, body: Buffer.from('body') });
    const outcome = await outcomeOf((sink) => forward(request, open(), sink));
    expect(outcome).toMatchObject({ status: 200, isWhole: true });
    expect(received[0]).toMatchObject({ method: 'POST', url: "/a//b?q='x'", body: Buffer.from('body') });
    const sent = received[0]?.headers.join('\n').toLowerCase();
    expect(sent).toBe(
      `host\n${origin.slice(7)}\nconnection\nkeep-alive\nx-one\n1\nx-one\n2\ncontent-type\ntext/plain; é\ncontent-length\n4`,
    );
  });

  test.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PATCH', 'PUT', 'REPORT'])(
    '%s works with and without a body',
    async (method) => {
      const { origin, received } = await startServer();
      const destinations = open();
      for (const body of [undefined, Buffer.from('x'), undefined]) {
        const outcome = await outcomeOf((sink) => forward(requestTo(origin, { method, body }), destinations, sink));
        expect(outcome).toMatchObject({ status: 200, isWhole: true });
      }
      expect(received.map(({ body }) => body.toString())).toEqual(['', 'x', '']);
      expect(received.every((request) => request.method === method)).toBe(true);
    },
  );

  test('gives the final head, filtered, and the body', async () => {
    const { origin } = await startServer((_, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.writeHead(418, [
        'X-Tea',
        'é',
        'Connection',
        'X-Gone',
        'x-gone',
        '1',
        'SVC-PROXY-DESTINATION-STATUS',
        '1',
        'Date',
        'd',
      ]);
      response.end('pot');
    });
    const outcome = await outcomeOf((sink) => forward(requestTo(origin), open(), sink));
    expect(outcome).toEqual({ status: 418, headers: ['X-Tea', 'é', 'Date', 'd'], body: 'pot', isWhole: true });
  });

  test('abort frees the socket at once and the sink hears nothing more', async () => {
    const { origin, sockets } = await startScript(() => undefined);
    const heard: string[] = [];
    const call = forward(requestTo(origin), open(), {
      onHead: () => heard.push('head'),
      onData: () => heard.push('data') > 0,
      onEnd: () => heard.push('end'),
      onError: () => heard.push('error'),
    });
    await until(() => (sockets[0]?.bytesRead ?? 0) > 0);
    call.abort();
    await until(() => sockets[0]?.destroyed === true);
    expect(heard).toEqual([]);
  });

  test('a call that is aborted before it has a connection is never sent', async () => {
    const { origin, received } = await startServer((_, response) => setTimeout(() => response.end(), 100));
    const destinations = open({ maxConnectionsPerOrigin: 1 });
    const first = outcomeOf((sink) => forward(requestTo(origin), destinations, sink));
    const call = forward(requestTo(origin, { path: '/waiting' }), destinations, {
      onHead: () => undefined,
      onData: () => true,
      onEnd: () => undefined,
      onError: () => undefined,
    });
    call.abort();
    expect(await first).toMatchObject({ status: 200 });
    expect(await outcomeOf((sink) => forward(requestTo(origin, { path: '/after' }), destinations, sink))).toMatchObject(
      { status: 200 },
    );
    expect(received.map(({ url }) => url)).toEqual(['/', '/after']);
  });

  test('close lets a call finish, then refuses and leaves no socket', async () => {
    const { origin, connections } = await startServer((_, response) => setTimeout(() => response.end('late'), 100));
    const destinations = open();
    const call = outcomeOf((sink) => forward(requestTo(origin), destinations, sink));
    const closed = destinations.close();
    const refused = await outcomeOf((sink) => forward(requestTo(origin), destinations, sink));
    expect(refused.error).toMatchObject({ code: 'unavailable' });
    expect(await call).toMatchObject({ status: 200, body: 'late', isWhole: true });
    await closed;
    await until(() => connections() === 0);
  });

  test('the number of links is bounded: the one unused for longest is closed', async () => {
    const { origin, connections } = await startServer();
    const destinations = open({ maxLinks: 2 });
    for (const tenantId of ['a', 'b', 'c', 'd']) {
      await outcomeOf((sink) => forward(requestTo(origin, { tenantId }), destinations, sink));
    }
    await until(() => connections() === 2);
  });

  test('headers that HTTP forbids are the caller’s fault and reach nobody', async () => {
    const { origin, received } = await startServer();
    const destinations = open();
    for (const headers of [
      ['X-A', 'b\r\nX-C: d'],
      ['X A', 'b'],
      ['Transfer-Encoding', 'chunked'],
      ['Content-Length', '3'],
    ]) {
      const request = requestTo(origin, { method: 'POST', headers, body: Buffer.from('xxxx') });
      const outcome = await outcomeOf((sink) => forward(request, destinations, sink));
      expect(outcome.error).toMatchObject({
        code: headers[0] === 'Content-Length' ? 'destination_unreachable' : 'bad_request',
      });
    }
    expect(received).toEqual([]);
  });
});

describe('the policy', () => {
  const closed = destinationPolicy({ schemes: ['http', 'https'], allow: [], deny: [] });

  test('denied and refused look the same, only a name that is not found differs; the cause tells them apart', async () => {
    const { origin, sockets } = await startScript(() => undefined);
    const resolve = destinationPolicy({
      schemes: ['http'],
      allow: ['loopback', 'refused.test'],
      deny: [],
      resolve: (hostname, _, callback) => {
        if (hostname === 'inner.test') callback(null, [{ address: '127.0.0.1', family: 4 }]);
        else callback(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }), []);
      },
    });
    const { port } = new URL(origin);
    const outcomes = [
      await outcomeOf((sink) => forward(requestTo(origin), open({ policy: closed }), sink)),
      await outcomeOf((sink) => forward(requestTo('http://127.0.0.1:1'), open(), sink)),
      await outcomeOf((sink) => forward(requestTo(`http://nowhere.test:${port}`), open({ policy: resolve }), sink)),
    ];
    const unreachable = { code: 'destination_unreachable', detail: 'The destination could not be reached' };
    expect(outcomes.map(({ error }) => error)).toMatchObject([
      unreachable,
      unreachable,
      { ...unreachable, detail: 'The name of the destination was not found' },
    ]);
    const causes = outcomes.map(({ error }) => error?.cause);
    const denied = {
      code: 'EDESTINATIONDENIED',
      message: expect.stringContaining('this installation does not allow it (DESTINATION_ALLOW)'),
    };
    expect(causes).toMatchObject([denied, { code: 'ECONNREFUSED' }, { code: 'ENOTFOUND' }]);
    expect(sockets).toEqual([]);
  });

  test('a public name that resolves inside is not dialled', async () => {
    const { origin, sockets } = await startScript(() => undefined);
    const pointing = (allow: string[]) =>
      destinationPolicy({
        schemes: ['http'],
        allow,
        deny: [],
        resolve: (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
      });
    const request = requestTo(`http://public.example:${new URL(origin).port}`);
    const denied = await outcomeOf((sink) => forward(request, open({ policy: pointing([]) }), sink));
    expect(denied.error?.cause).toMatchObject({ code: 'EDESTINATIONDENIED' });
    expect(sockets).toEqual([]);
    const call = forward(request, open({ policy: pointing(['loopback']) }), {
      onHead() {},
      onData: () => true,
      onEnd() {},
      onError() {},
    });
    await until(() => sockets.length === 1);
    call.abort();
  });

  test('the address that was reached is compared before the first byte', async () => {
    const { origin, texts } = await startScript(() => undefined);
    const lying = {
      ...closed,
      checkUrl: () => ({ ok: true as const, url: new URL(origin) }),
      lookupBy: () =>
        ((_, options, callback) =>
          options.all
            ? callback(null, [{ address: '127.0.0.1', family: 4 }])
            : callback(null, '127.0.0.1', 4)) as typeof closed.lookup,
    };
    const request = requestTo(`http://public.example:${new URL(origin).port}`);
    const outcome = await outcomeOf((sink) => forward(request, open({ policy: lying }), sink));
    expect(outcome.error?.cause).toMatchObject({ code: 'EDESTINATIONDENIED' });
    await until(() => texts.length === 1);
    expect(texts).toEqual(['']);
  });

  test('a literal is checked by address where it is dialled', async () => {
    const { origin, sockets } = await startScript(() => undefined);
    const onlyByUrl = { ...closed, checkUrl: () => ({ ok: true as const, url: new URL(origin) }) };
    const outcome = await outcomeOf((sink) => forward(requestTo(origin), open({ policy: onlyByUrl }), sink));
    expect(outcome.error?.cause).toMatchObject({
      code: 'EDESTINATIONDENIED',
      message: expect.stringContaining('DESTINATION_ALLOW'),
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(sockets).toEqual([]);
  });

  test('a scheme that is not allowed is not called, even if it was configured once', async () => {
    const httpsOnly = destinationPolicy({ schemes: ['https'], allow: ['loopback'], deny: [] });
    const { origin, received } = await startServer();
    const outcome = await outcomeOf((sink) => forward(requestTo(origin), open({ policy: httpsOnly }), sink));
    expect(outcome.error).toMatchObject({ code: 'destination_unreachable' });
    expect(received).toEqual([]);
  });
});
