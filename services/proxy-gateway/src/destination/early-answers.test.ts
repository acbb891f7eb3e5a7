import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { destinationPolicy } from '@sluice/destination-policy';
import { issueCertificate, slow } from '@sluice/testing';
import { closeAll, listen, onClose, open, outcomeOf, until } from '../testing/destination-servers.ts';
import { type DestinationSink, forward, streamThrough } from './index.ts';

afterEach(closeAll);

const upload = randomBytes(6 << 20);
const refusal = 'HTTP/1.1 413 Too Much\r\nContent-Length: 8\r\nConnection: close\r\n\r\ntoo much';
const authority = issueCertificate('Early Authority');
const caFile = join(mkdtempSync(join(tmpdir(), 'early-')), 'ca.pem');
writeFileSync(caFile, authority.certificate);
const policy = destinationPolicy({ schemes: ['http', 'https'], allow: ['loopback'], deny: [] });

function refuseAtOnce(socket: Socket): void {
  socket.on('error', () => socket.destroy());
  socket.once('data', () => {
    socket.pause();
    socket.write(refusal, () => setTimeout(() => socket.destroy(), 5));
  });
}

async function start(scheme: string, play = refuseAtOnce): Promise<string> {
  const { certificate: cert, key } = issueCertificate('localhost', authority);
  const server: Server | TlsServer = scheme === 'https' ? createTlsServer({ cert, key }, play) : createServer(play);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => socket.destroy());
    sockets.add(socket);
  });
  const origin = await listen(server as Server, scheme);
  onClose(() => {
    for (const socket of sockets) socket.destroy();
  });
  return origin.replace('127.0.0.1', 'localhost');
}

const held = (origin: string, destinations: ReturnType<typeof open>, sink: DestinationSink) =>
  forward({ tenantId: 't', origin, path: '/', method: 'POST', headers: [], body: upload }, destinations, sink);

const streamed = (origin: string, destinations: ReturnType<typeof open>, sink: DestinationSink) => {
  const pieces = Array.from({ length: 96 }, (_, i) => upload.subarray(i << 16, (i + 1) << 16));
  const body = Readable.from(pieces, { objectMode: false });
  return streamThrough({ tenantId: 't', origin, path: '/', method: 'POST', headers: [], body }, destinations, sink);
};

test.each([
  ['held', 'http', held],
  ['streamed', 'http', streamed],
  ['held', 'https', held],
  ['streamed', 'https', streamed],
])(
  'a destination that refuses a %s upload over %s and closes is passed on, 15 times of 15',
  async (_, scheme, send) => {
    const origin = await start(scheme);
    const destinations = open({ policy, caFile });
    const outcomes = [];
    for (let i = 0; i < 15; i++) outcomes.push(await outcomeOf((sink) => send(origin, destinations, sink)));
    expect(outcomes.map(({ status, body, isWhole }) => [status, body, isWhole])).toEqual(
      Array.from({ length: 15 }, () => [413, 'too much', true]),
    );
  },
);

test.each([
  ['held', 'http', held],
  ['streamed', 'http', streamed],
  ['held', 'https', held],
  ['streamed', 'https', streamed],
])(
  'of a %s upload over %s nothing is kept for a destination that has answered and reads no more',
  async (_, scheme, send) => {
    const sockets: Socket[] = [];
    const origin = await start(scheme, (socket) => {
      sockets.push(socket);
      socket.on('error', () => socket.destroy());
      socket.once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
    });
    const destinations = open({ policy, caFile });
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => outcomeOf((sink) => send(origin, destinations, sink))),
    );
    expect(outcomes.every(({ body, isWhole }) => body === 'ok' && isWhole)).toBe(true);
    expect(sockets).toHaveLength(8);
    for (const socket of sockets) socket.resume();
    await until(() => sockets.every(({ destroyed }) => destroyed));
    expect(sockets.map(({ bytesRead }) => bytesRead).filter((bytes) => bytes > upload.length)).toEqual([]);
  },
);

slow('0.7 s').each([
  ['held', 'http', held],
  ['streamed', 'http', streamed],
  ['held', 'https', held],
  ['streamed', 'https', streamed],
])('a %s upload over %s that was read to its end leaves the connection to the next', async (_, scheme, send) => {
  const { certificate: cert, key } = issueCertificate('localhost', authority);
  const answer: RequestListener = (request, response) => request.resume().on('end', () => response.end('ok'));
  const server = scheme === 'https' ? createHttpsServer({ cert, key }, answer) : createHttpServer(answer);
  let connections = 0;
  server.on('connection', () => connections++);
  const origin = (await listen(server, scheme)).replace('127.0.0.1', 'localhost');
  onClose(() => server.closeAllConnections());
  const destinations = open({ policy, caFile, maxConnectionsPerOrigin: 1 });
  for (let i = 0; i < 10; i++) {
    expect(await outcomeOf((sink) => send(origin, destinations, sink))).toMatchObject({ body: 'ok', isWhole: true });
  }
  expect(connections).toBe(1);
});

test('a piece of the upload that meets a connection which was just reset does not cost the answer', async () => {
  const body = new Readable({ read() {} });
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(refusal);
      socket.resetAndDestroy();
      // In the same turn of the event loop, before any of the answer can be read
      body.push(upload.subarray(0, 1000));
      body.push(upload.subarray(0, 1000));
    });
  });
  const origin = await listen(server, 'http');
  const request = { tenantId: 't', origin, path: '/', method: 'POST', headers: [], body };
  const outcome = outcomeOf((sink) => streamThrough(request, open(), sink));
  body.push('begun');
  expect(await outcome).toMatchObject({ status: 413, body: 'too much', isWhole: true });
});

test('one that closes without an answer is a failure, and its socket is freed', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.resetAndDestroy());
  });
  const origin = await listen(server, 'http');
  for (const send of [held, streamed]) {
    const { status, error } = await outcomeOf((sink) => send(origin, open(), sink));
    expect([status, error]).toMatchObject([undefined, { code: 'destination_failed', status: 502 }]);
  }
});
