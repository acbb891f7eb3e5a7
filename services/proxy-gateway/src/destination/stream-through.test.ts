import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable, Transform } from 'node:stream';
import { ServiceError } from '@sluice/problems';
import HttpProxy from 'http-proxy';
import {
  closeAll,
  exchange,
  onClose,
  open,
  outcomeOf,
  replyTo,
  startFront,
  startScript,
  startServer,
  until,
} from '../testing/destination-servers.ts';
import { type Destinations, type StreamedRequest, streamThrough } from './index.ts';

afterEach(closeAll);

function through(incoming: IncomingMessage, origin: string, destinations: Destinations): StreamedRequest {
  const headers = destinations.headers.request(incoming.rawHeaders);
  return {
    tenantId: 'tenant-1',
    origin,
    path: incoming.url ?? '/',
    method: incoming.method ?? '',
    headers,
    body: incoming,
  };
}

async function startGateway(
  origin: string,
  change: Partial<StreamedRequest> = {},
  destinations = open(),
): Promise<string> {
  return startFront((incoming, response) => {
    const call = streamThrough(
      { ...through(incoming, origin, destinations), ...change },
      destinations,
      replyTo(response),
    );
    response.on('drain', () => call.resume());
    response.on('close', () => call.abort());
  });
}

function startBareProxy(origin: string): Promise<string> {
  const agent = new Agent({ keepAlive: true });
  onClose(() => agent.destroy());
  const proxy = HttpProxy.createProxyServer({ target: origin, agent });
  return startFront((incoming, response) => proxy.web(incoming, response, {}, () => response.destroy()));
}

const chunkedBody = (method: string, extra = '') =>
  `${method} /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n${extra}\r\n` +
  '2b\r\nGET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n\r\n0\r\n\r\n';

describe('faults of http-proxy that are closed', () => {
  test.each(['DELETE', 'OPTIONS', 'GET', 'POST', 'REPORT'])(
    'the chunked body of a %s stays its body',
    async (method) => {
      const { origin, received } = await startServer();
      const reply = await exchange(await startGateway(origin), chunkedBody(method));
      expect(reply).toContain('HTTP/1.1 200');
      expect(received.map(({ url }) => url)).toEqual(['/a']);
      expect(received[0]?.body.toString()).toBe('GET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n');
    },
  );

  test('the control: bare http-proxy sends the body of a DELETE as a second request', async () => {
    const { origin, received } = await startServer();
    const bytes = chunkedBody('DELETE').replace('Connection: close\r\n', '');
    await exchange(await startBareProxy(origin), bytes, (reply) => reply.includes('200'));
    await until(() => received.length === 2);
    expect(received[1]?.url).toBe('/smuggled');
  });

  test('a Trailer header, with chunks or without, harms nobody', async () => {
    const { origin, received } = await startServer();
    const gateway = await startGateway(origin);
    expect(await exchange(gateway, chunkedBody('POST', 'Trailer: X-T\r\n'))).toContain('HTTP/1.1 200');
    const plain = 'POST /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTrailer: X-T\r\nContent-Length: 1\r\n\r\ny';
    expect(await exchange(gateway, plain)).toContain('HTTP/1.1 200');
    expect(received.map(({ headers }) => headers.join().toLowerCase().includes('trailer'))).toEqual([false, false]);
  });

  test('Expect is answered here, not sent on, and changes nothing about the other headers', async () => {
    const { origin, received } = await startServer();
    const bytes =
      'POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nSVC-API-KEY: k\r\nX-A: b\r\nContent-Length: 1\r\n\r\ny';
    expect(await exchange(await startGateway(origin), bytes)).toContain('HTTP/1.1 200');
    const sent = received[0]?.headers.join('\n').toLowerCase().split('\n') ?? [];
    expect(sent).toContain('x-a');
    expect(sent).not.toContain('expect');
    expect(sent).not.toContain('svc-api-key');
  });

  test('when the client goes away, the destination’s connection is closed', async () => {
    const { origin, sockets } = await startScript(() => undefined);
    const gateway = await startGateway(origin);
    for (const body of ['', 'part of ten']) {
      const client = httpRequest(`${gateway}/a`, { method: 'POST', headers: { 'Content-Length': body.length * 2 } });
      client.on('error', () => undefined);
      client.write(body);
      client.flushHeaders();
      const index = body === '' ? 0 : 1;
      await until(() => (sockets[index]?.bytesRead ?? 0) > 0);
      client.destroy();
      await until(() => sockets[index]?.destroyed === true);
    }
  });

  test('an answer that is cut off destroys the client’s connection', async () => {
    const { origin } = await startScript((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
        setTimeout(() => socket.destroy(), 30);
      });
    });
    const bytes = 'GET /a HTTP/1.1\r\nHost: x\r\n\r\n';
    const reply = await exchange(await startGateway(origin), bytes);
    expect(reply).toContain('hello');
    expect(reply.endsWith('0\r\n\r\n')).toBe(false);
  });

  test('hop-by-hop headers pass neither way', async () => {
    const { origin, received } = await startServer((_, response) => {
      response.writeHead(200, [
        'Connection',
        'X-Back',
        'X-Back',
        '1',
        'Proxy-Authenticate',
        'Basic',
        'Keep-Alive',
        'timeout=9',
        'X-Kept',
        '1',
      ]);
      response.end();
    });
    const bytes =
      'GET /a HTTP/1.1\r\nHost: x\r\nConnection: close, X-There\r\nX-There: 1\r\nTE: trailers\r\nProxy-Authorization: p\r\nX-Kept: 1\r\n\r\n';
    const reply = (await exchange(await startGateway(origin), bytes)).toLowerCase();
    const sent = received[0]?.headers.join('\n').toLowerCase() ?? '';
    for (const text of [reply, sent]) expect(text).toContain('x-kept');
    for (const name of ['x-back', 'proxy-authenticate', 'timeout=9']) expect(reply).not.toContain(name);
    for (const name of ['x-there', 'te\n', 'proxy-authorization']) expect(sent).not.toContain(name);
  });

  test('the path is sent as it is, doubled slashes included', async () => {
    const { origin, received } = await startServer();
    const path = "/a//b///c?next=http://x//y&q='z'";
    await exchange(await startGateway(origin), `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(received[0]?.url).toBe(path);
  });
});

describe('streamThrough', () => {
  test('the length of the caller’s request is kept, and Host is the destination’s', async () => {
    const { origin, received } = await startServer();
    const bytes =
      'POST /a HTTP/1.1\r\nHost: caller.test\r\nConnection: close\r\nContent-Length: 4\r\nX-A: 1\r\nx-a: 2\r\n\r\nbody';
    await exchange(await startGateway(origin), bytes);
    const sent = received[0]?.headers ?? [];
    expect(sent.join('\n')).toContain('X-A\n1\nX-A\n2');
    expect(sent).toContain(origin.slice(7));
    expect(sent[sent.indexOf('Content-Length') + 1]).toBe('4');
    expect(sent).not.toContain('Transfer-Encoding');
    expect(received[0]?.body.toString()).toBe('body');
  });

  test('a request without a body gets no framing, a POST without one gets a length of 0', async () => {
    const { origin, received } = await startServer();
    const gateway = await startGateway(origin);
    for (const method of ['GET', 'DELETE', 'POST']) {
      await exchange(gateway, `${method} /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    }
    const framing = received.map(
      ({ headers }) => /content-length\n\d+|transfer-encoding\n\w+/i.exec(headers.join('\n'))?.[0],
    );
    expect(framing).toEqual([undefined, undefined, 'Content-Length\n0']);
  });

  test('Keep-Alive and Connection are sent as chosen', async () => {
    const { origin, received } = await startServer();
    const headers = { keepAlive: 'timeout=7, max=3', connection: 'keep-alive, X-Other' };
    const bytes = 'GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    expect(await exchange(await startGateway(origin, headers), bytes)).toContain('HTTP/1.1 200');
    const sent = received[0]?.headers ?? [];
    expect(sent[sent.indexOf('Keep-Alive') + 1]).toBe('timeout=7, max=3');
    expect(sent[sent.indexOf('Connection') + 1]).toBe('keep-alive, X-Other');
    expect(sent.filter((name) => name.toLowerCase() === 'connection').length).toBe(1);
  });

  test.each([
    [{ connection: 'x-sent' }, 'bad_request'],
    [{ connection: 'a\r\nX: y' }, 'bad_request'],
    [{ keepAlive: 'a\r\nX: y' }, 'bad_request'],
    [{ headers: ['X A', 'b'] }, 'bad_request'],
    [{ path: '/a b' }, 'bad_request'],
    [{ path: '/a\r\nX: y' }, 'bad_request'],
    [{ method: 'A B' }, 'bad_request'],
  ])('%j is refused and nothing is sent', async (change, code) => {
    const { origin, received } = await startServer();
    const request = {
      tenantId: 't',
      origin,
      path: '/',
      method: 'GET',
      headers: ['X-Sent', '1'],
      body: undefined,
      ...change,
    };
    const outcome = await outcomeOf((sink) => streamThrough(request, open(), sink));
    expect(outcome.error).toMatchObject({ code });
    expect(received).toEqual([]);
  });

  test('framing that a caller of this module forgot to filter is not believed', async () => {
    const { origin, received } = await startServer();
    const headers = ['Content-Length', '1', 'Transfer-Encoding', 'gzip', 'Host', 'evil.test', 'Expect', '100-continue'];
    const request = { tenantId: 't', origin, path: '/', method: 'POST', headers, body: Buffer.from('four') };
    expect(await outcomeOf((sink) => streamThrough(request, open(), sink))).toMatchObject({ status: 200 });
    expect(received.length).toBe(1);
    expect(received[0]?.body.toString()).toBe('four');
    expect(received[0]?.headers).not.toContain('evil.test');
  });

  test('a destination that does not read holds the client back', async () => {
    const sizeBytes = 64 << 20;
    const { origin, sockets } = await startScript((socket) => {
      socket.pause();
    });
    const chunk = Buffer.alloc(1 << 16, 'x');
    let readBytes = 0;
    const body = new Readable({
      read() {
        readBytes += chunk.length;
        this.push(readBytes > sizeBytes ? null : chunk);
      },
    });
    const request = { tenantId: 't', origin, path: '/', method: 'POST', headers: [], body };
    const call = streamThrough(request, open(), { onHead() {}, onData: () => true, onEnd() {}, onError() {} });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(readBytes).toBeLessThan(sizeBytes / 4); // the capacity of the system's socket buffers
    sockets[0]?.resume();
    await until(() => (sockets[0]?.bytesRead ?? 0) > sizeBytes);
    call.abort();
  });

  test('a body that is changed on the way is sent in chunks', async () => {
    const { origin, received } = await startServer();
    const destinations = open();
    const gateway = await startFront((incoming, response) => {
      const longer = new Transform({ transform: (chunk, _, done) => done(null, `${chunk}-${chunk}`) });
      streamThrough(
        { ...through(incoming, origin, destinations), body: incoming.pipe(longer) },
        destinations,
        replyTo(response),
      );
    });
    const bytes = 'PUT /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc';
    expect(await exchange(gateway, bytes)).toContain('HTTP/1.1 200');
    expect(received[0]?.body.toString()).toBe('abc-abc');
  });

  test('a body that fails on the way aborts the call and gives its own error', async () => {
    const { origin, sockets, texts } = await startScript(() => undefined);
    const body = new Readable({ read() {} });
    const request = { tenantId: 't', origin, path: '/', method: 'POST', headers: [], body };
    const outcome = outcomeOf((sink) => streamThrough(request, open(), sink));
    body.push('half');
    await until(() => texts[0]?.includes('half') === true);
    body.destroy(new ServiceError('invalid_proxy_request', 'Token x does not exist'));
    expect((await outcome).error).toMatchObject({ code: 'invalid_proxy_request' });
    await until(() => sockets[0]?.destroyed === true);
    expect(texts[0]?.endsWith('0\r\n\r\n')).toBe(false);
  });

  test('a slow upload is not late while it moves; a stalled one is', async () => {
    const { origin } = await startServer();
    const destinations = open({ headTimeoutMs: 1000 });
    const send = (pushes: number) => {
      const body = new Readable({ read() {} });
      const request = { tenantId: 't', origin, path: '/', method: 'POST', headers: [], body };
      const timer = setInterval(() => {
        body.push('x');
        pushes--;
        if (pushes === 0) body.push(null);
        if (pushes <= 0) clearInterval(timer);
      }, 50);
      return {
        outcome: outcomeOf((sink) => streamThrough(request, destinations, sink)),
        stop: () => clearInterval(timer),
      };
    };
    expect(await send(30).outcome).toMatchObject({ status: 200, isWhole: true });
    const stalled = send(100);
    setTimeout(stalled.stop, 120);
    expect((await stalled.outcome).error).toMatchObject({ code: 'destination_timeout' });
  });

  test('after an early answer the destination gets no more, and the rest of the body runs dry', async () => {
    const { origin, sockets } = await startScript((socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig');
      });
    });
    const chunk = Buffer.alloc(1 << 16, 'x');
    let left = 1000;
    const body = new Readable({
      read() {
        this.push(left > 0 ? chunk : null);
        left--;
      },
    });
    const request = { tenantId: 't', origin, path: '/', method: 'POST', headers: [], body };
    expect(await outcomeOf((sink) => streamThrough(request, open(), sink))).toMatchObject({
      status: 413,
      body: 'big',
      isWhole: true,
    });
    await until(() => body.readableEnded);
    sockets[0]?.resume();
    await until(() => sockets[0]?.destroyed === true);
    expect(sockets[0]?.bytesRead).toBeLessThan(1000 * chunk.length);
  });

  test('after an early answer the client’s connection is still usable', async () => {
    const { origin, sockets } = await startScript((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig'));
    });
    const gateway = await startGateway(origin);
    const first = `POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n${'x'.repeat(300_000)}`;
    const second = 'POST /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\ny';
    const reply = await exchange(gateway, first + second, (text) => text.split('big').length === 3);
    expect(reply.split('HTTP/1.1 413').length - 1).toBe(2);
    await until(() => sockets.length === 2);
  });
});
