import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { endRefusal } from '@sluice/problems';
import { slow } from '@sluice/testing';
import { createIngressServer } from './ingress.ts';

const stack = new AsyncDisposableStack();
const failures: string[] = [];
let upstream: RequestListener;
let port: number;

async function open(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

async function openIngress(origins: { gateway: number; vault: number; api: number }): Promise<number> {
  const url = (at: number) => new URL(`http://127.0.0.1:${at}`);
  return open(
    createIngressServer({
      origins: {
        'proxy-gateway': url(origins.gateway),
        'token-vault': url(origins.vault),
        'management-api': url(origins.api),
      },
      headerPrefix: 'SVC',
      onFailure: (_error, service) => failures.push(service),
    }),
  );
}

beforeAll(async () => {
  const service = createServer((req, res) => upstream(req, res));
  service.on('checkContinue', (req, res) => upstream(req, res));
  const at = await open(service);
  port = await openIngress({ gateway: at, vault: at, api: at });
});
beforeEach(() => {
  failures.length = 0;
});
afterAll(() => stack.disposeAsync());

const call = (path: string, init?: RequestInit, at = port) => fetch(`http://127.0.0.1:${at}${path}`, init);

/** Writes bytes as they are and returns all that comes back. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes, 'latin1');
  return text(socket);
}

describe('what passes through', () => {
  test('method, target, headers and body arrive as they were sent, and so does the answer', async () => {
    upstream = async (req, res) => {
      const body = await text(req);
      res.writeHead(207, 'Some of it', [
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
        ['X-Seen', JSON.stringify([req.method, req.url, req.rawHeaders, body])],
      ]);
      res.end('answer');
    };
    const answer = await raw(
      'PATCH /proxies/%2e%2e/x?q=%20&q HTTP/1.1\r\nHost: h\r\nx-Mixed: 1\r\nX-MIXED: 2\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 207 Some of it\r\n/);
    expect(answer).toContain('Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n');
    const seen = JSON.parse(/^X-Seen: (.*)$/m.exec(answer)?.[1] ?? '');
    expect(seen).toEqual([
      'PATCH',
      '/proxies/%2e%2e/x?q=%20&q',
      [
        'Host',
        'h',
        'x-Mixed',
        '1',
        'X-MIXED',
        '2',
        'Content-Length',
        '4',
        'X-Forwarded-For',
        '127.0.0.1',
        'Connection',
        'keep-alive',
      ],
      'body',
    ]);
  });

  test.each(['GET', 'DELETE', 'OPTIONS', 'POST'])(
    'a chunked %s body is one body, not a second request',
    async (method) => {
      const seen: string[] = [];
      upstream = async (req, res) => {
        seen.push(`${req.method} ${await text(req)}`);
        res.end();
      };
      await raw(
        `${method} / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n13\r\nGET /x HTTP/1.1\r\n\r\n\r\n0\r\n\r\n`,
      );
      expect(seen).toEqual([`${method} GET /x HTTP/1.1\r\n\r\n`]);
    },
  );

  test.each([
    [
      'HTTP/1.0 with a chunked body',
      'POST /first HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive',
    ],
    ['HTTP/2.0', 'POST /first HTTP/2.0\r\nHost: h\r\nTransfer-Encoding: chunked'],
  ])('%s is 400 and the end of the connection', async (_, head) => {
    const seen: string[] = [];
    upstream = (req, res) => {
      seen.push(req.url ?? '');
      res.end();
    };
    const answer = await raw(`${head}\r\n\r\n0\r\n\r\nGET /second HTTP/1.1\r\nHost: h\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*Connection: close/);
    expect(answer.match(/^HTTP\/1\.1 \d/gm)).toHaveLength(1);
    expect(seen).not.toContain('/first');
  });

  test('an upgrade request reaches the service as an ordinary request', async () => {
    upstream = (req, res) => res.writeHead(501).end(req.headers.upgrade);
    const answer = await raw('GET /proxy HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 501 [\s\S]*websocket/);
  });

  test('HEAD keeps its length, 204 has none', async () => {
    upstream = (req, res) =>
      req.method === 'HEAD' ? res.setHeader('content-length', 7).end() : res.writeHead(204).end();
    expect((await call('/', { method: 'HEAD' })).headers.get('content-length')).toBe('7');
    expect((await call('/')).status).toBe(204);
  });
});

describe('streaming', () => {
  test('the first part of a body arrives before the last was sent, both ways', async () => {
    upstream = (req, res) => void req.pipe(res);
    const outgoing = request({ port, method: 'POST', path: '/proxy', headers: { 'transfer-encoding': 'chunked' } });
    outgoing.write('first');
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect(String((await once(incoming, 'data'))[0])).toBe('first');
    outgoing.end('last');
    expect(await text(incoming)).toBe('last');
  });

  test('a reader that stops holds the sender up', async () => {
    let sentBytes = 0;
    upstream = (_req, res) => {
      const chunk = Buffer.alloc(64 * 1024);
      const fill = () => {
        while (!res.destroyed && sentBytes < 200e6 && res.write(chunk)) sentBytes += chunk.length;
      };
      res.on('drain', fill);
      fill();
    };
    const outgoing = request({ port, path: '/' }).end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    incoming.pause();
    await sleep(300);
    expect(sentBytes).toBeLessThan(50e6);
    outgoing.destroy();
  });

  test('Expect: 100-continue is the service’s to answer', async () => {
    upstream = async (req, res) => {
      res.writeContinue();
      res.end(`got ${await text(req)}`);
    };
    const outgoing = request({
      port,
      method: 'PUT',
      path: '/',
      headers: { expect: '100-continue', 'content-length': 4 },
    });
    outgoing.flushHeaders();
    await once(outgoing, 'continue');
    outgoing.end('body');
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect(await text(incoming)).toBe('got body');
  });

  test('a refusal instead of 100 reaches the client, which may then not reuse the connection', async () => {
    upstream = (_req, res) => void res.writeHead(413).end('no');
    const answer = await raw('PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/\r\nConnection: close\r\n/);
  });
});

describe('what clients send and destinations answer', () => {
  test('connections with an offer of an upgrade serve the next request too', async () => {
    upstream = (req, res) => void res.end(`${req.url} ${req.headers.upgrade}`);
    const socket = connect(port, '127.0.0.1');
    let got = '';
    socket.on('data', (chunk) => {
      got += chunk;
    });
    for (const path of ['/1', '/2']) {
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n\r\n`,
      );
      while (!got.includes(`${path} undefined`)) await once(socket, 'data');
    }
    socket.destroy();
  });

  test.each([
    ['http://h/proxy?a=b', '/proxy?a=b'],
    ['HTTPS://H/tokens/%2e', '/tokens/%2e'],
    ['http://h', '/'],
  ])('the target %s is that of its Host, and passes as %s', async (target, path) => {
    upstream = (req, res) => void res.end(`at ${req.url}`);
    expect(await raw(`GET ${target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`)).toMatch(
      new RegExp(`at ${path.replace('?', '[?]')}$`),
    );
  });

  test.each(['http://other/proxy', 'http://h:80/proxy', 'http://u@h/proxy', '*', 'ftp://h/proxy'])(
    'the target %s is 400',
    async (target) => {
      expect(await raw(`GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    },
  );

  test('a head passes before its body has begun', async () => {
    const begun = Promise.withResolvers<void>();
    upstream = async (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      await begun.promise;
      res.end('data: 1');
    };
    const answer = await call('/proxy'); // resolves with the head
    begun.resolve();
    expect(await answer.text()).toBe('data: 1');
  });

  test('a small answer is one packet', async () => {
    upstream = (_req, res) => void res.writeHead(200, { 'Content-Length': 5 }).end('whole');
    const socket = connect(port, '127.0.0.1');
    const pieces: string[] = [];
    socket.on('data', (chunk) => pieces.push(String(chunk)));
    socket.write('GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
    await once(socket, 'close');
    expect(pieces.map((piece) => piece.endsWith('\r\n\r\nwhole'))).toEqual([true]);
  });

  test('64 KiB of headers and trailers pass', async () => {
    upstream = (_req, res) => {
      const many = Array.from({ length: 1500 }, (_, i): [string, string] => [`X-${i}`, 'y'.repeat(30)]);
      res.writeHead(200, [...many, ['Transfer-Encoding', 'chunked']]);
      res.write('a');
      res.addTrailers({ 'X-Sum': '1' });
      res.end();
    };
    const answer = await raw('GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
    expect(answer.match(/^X-\d+: /gm)).toHaveLength(1500);
    expect(answer).toMatch(/\r\n0\r\nX-Sum: 1\r\n\r\n$/);
  });

  test.each([
    ['BREW /proxy', 'proxy_error'],
    ['BREW /proxy', 'error'],
    ['get /proxy/a', 'proxy_error'],
    ['BREW /tokens', 'type'],
    ['CONNECT h:1', 'type'],
  ])('%s is 400 with a body that has the member %s', async (line, member) => {
    const answer = await raw(`${line} HTTP/1.1\r\nHost: h\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toHaveProperty(member);
  });

  test.each([
    ['no Host', 'GET /proxy HTTP/1.1\r\n', 400],
    ['two Hosts', 'GET /proxy HTTP/1.1\r\nHost: h\r\nHost: h\r\n', 400],
    ['an expectation that nobody meets', 'GET /proxy HTTP/1.1\r\nHost: h\r\nExpect: 200-ok\r\n', 417],
  ])('%s is refused with a body', async (_name, head, status) => {
    const answer = await raw(`${head}Connection: close\r\n\r\n`);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ proxy_error: { status } });
  });

  test('answers that are owed go out before the refusal of what follows them', async () => {
    upstream = (req, res) => void setTimeout(() => res.end(`owed ${req.url}`), 50);
    const answer = await raw(
      ['GET /1', 'GET /2', 'BREW /3'].map((line) => `${line} HTTP/1.1\r\nHost: h\r\n\r\n`).join(''),
    );
    expect(answer.match(/(HTTP\/1\.1 \d+|owed \/\d)/g)).toEqual([
      ...['HTTP/1.1 200', 'owed /1', 'HTTP/1.1 200', 'owed /2'],
      'HTTP/1.1 400',
    ]);
  });

  test('the body of a request whose head came behind an offer of an upgrade is no request', async () => {
    const seen: string[] = [];
    upstream = (req, res) => {
      seen.push(`${req.url}`);
      res.end('answered');
    };
    const evil = 'GET /evil HTTP/1.1\r\nHost: h\r\n\r\n';
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /x HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
    socket.write(`POST /y HTTP/1.1\r\nHost: h\r\nContent-Length: ${evil.length}\r\n\r\n`);
    setTimeout(() => socket.write(evil), 100).unref();
    expect((await text(socket)).match(/answered/g)).toHaveLength(1);
    expect(seen).toEqual(['/x']);
  });

  test('a head that does not come to its end is 408', async () => {
    expect(await raw('GET /tokens HTTP/1.1\r\nHost: h\r\nX: ')).toMatch(/^HTTP\/1\.1 408 .*"status":408/s);
  });
});

describe('ends', () => {
  test('a client that goes away aborts the request to the service', async () => {
    const aborted = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    upstream = (_req, res) => {
      res.on('close', () => aborted.resolve());
      arrived.resolve();
    };
    const client = new AbortController();
    const answer = call('/proxy', { signal: client.signal });
    await arrived.promise;
    client.abort();
    await expect(answer).rejects.toThrow();
    await aborted.promise;
    expect(failures).toEqual([]);
  });

  test('a client that goes away in the middle of its body aborts the request to the service', async () => {
    const aborted = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    upstream = (req) => {
      req.on('error', () => aborted.resolve()).resume();
      arrived.resolve();
    };
    const socket = connect(port, '127.0.0.1');
    socket.write('POST /proxy HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nsome');
    await arrived.promise;
    socket.destroy();
    await aborted.promise;
  });

  test('a service that fails in the middle of its answer never looks complete', async () => {
    upstream = (_req, res) => {
      res.write('half');
      setTimeout(() => res.destroy(), 20);
    };
    const answer = await call('/');
    await expect(answer.text()).rejects.toThrow();
  });

  slow('1 s')('a body that a service refuses while it is still being sent: every client gets the answer', async () => {
    upstream = (_req, res) => {
      res.writeHead(413, { 'Content-Length': 2 });
      endRefusal(res, 'no');
    };
    const body = new Uint8Array(6e6);
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) {
      const answers = await Promise.all(Array.from({ length: 4 }, () => call('/tokens', { method: 'POST', body })));
      for (const answer of answers) {
        await answer.text();
        statuses.push(answer.status);
      }
    }
    expect(new Set(statuses)).toEqual(new Set([413]));
    expect(failures).toEqual([]);
  });

  test('a service that closes without an answer is a 503', async () => {
    upstream = (_req, res) => void res.destroy();
    expect((await call('/tokens')).status).toBe(503);
    expect(failures).toEqual(['token-vault']);
  });

  test('a service that is away is a problem document, inside proxy_error for an invocation', async () => {
    const nobody = createServer();
    const at = await open(nobody);
    nobody.close();
    const ingress = await openIngress({ gateway: at, vault: at, api: at });
    const answer = await call('/tenants/self', { headers: { 'SVC-TRACE-ID': 'trace-1' } }, ingress);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([503, 'application/problem+json']);
    expect(answer.headers.get('svc-trace-id')).toBe('trace-1');
    expect(answer.headers.get('link')).toBe('</docs/errors#unavailable>; rel="help"');
    expect(await answer.json()).toMatchObject({ status: 503, instance: 'trace-1' });
    const invocation = await call('/proxy', { method: 'POST', body: 'x'.repeat(1e6) }, ingress);
    expect([invocation.status, invocation.headers.get('content-type')]).toEqual([503, 'application/json']);
    expect(invocation.headers.get('link')).toBeNull();
    expect(await invocation.json()).toMatchObject({ proxy_error: { status: 503 }, error: { code: 'unavailable' } });
  });

  test.each([
    ['GET', 200],
    ['POST', 503],
  ])('an idle connection that the service closes on use: %s is answered with %d', async (method, status) => {
    let connections = 0;
    // Answers the first request on each connection; the first connection is reset when it is used again.
    const service = createTcpServer((socket) => {
      const isFirst = ++connections === 1;
      let requests = 0;
      socket.on('error', () => undefined);
      socket.on('data', () => {
        if (isFirst && ++requests === 2) socket.resetAndDestroy();
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
    });
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
    stack.defer(() => void service.close());
    const at = (service.address() as AddressInfo).port;
    const ingress = await openIngress({ gateway: at, vault: at, api: at });
    expect(await (await call('/', {}, ingress)).text()).toBe('ok');
    await sleep(20);
    expect((await call('/', { method }, ingress)).status).toBe(status);
    expect(connections).toBe(method === 'GET' ? 2 : 1);
  });

  test('a target that cannot be sent on is a 400, and the ingress goes on', async () => {
    upstream = (_req, res) => void res.end();
    expect(await raw('GET /\xff\xfe\xe2\x82\xac HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 (200|400) /,
    );
    expect((await call('/')).status).toBe(200);
  });
});
