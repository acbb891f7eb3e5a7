import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { eventually, useStack } from '@sluice/testing';
import { clients } from '@sluice/testing/clients';
import { openClient } from '@sluice/testing/raw';
import { shareTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => shareTestGateway(stack));
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'clients-'));

async function openProxy() {
  const { tenant, destination } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url });
  const headers = { 'SVC-API-KEY': (await tenant.application()).key, 'SVC-PROXY-KEY': proxy.key };
  destination.seen.length = 0;
  return { destination, headers, token: await tenant.token({ data: 'the value' }) };
}

async function openDoor(stack: AsyncDisposableStack) {
  let count = 0;
  const { hostname, port } = new URL(gateway.current.url);
  const door = createServer((socket) => {
    count++;
    const inner = connect(Number(port), hostname);
    for (const each of [socket, inner]) {
      each.on('error', () => undefined);
      stack.defer(() => void each.destroy());
    }
    socket.pipe(inner).pipe(socket);
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  stack.defer(() => void door.close());
  const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
  return { url, connections: () => count };
}

describe.each(clients.map((client) => [client.name, client] as const))('%s', (_, client) => {
  test('gets its answers on one connection, and the destination the value, with nothing of an upgrade', async () => {
    const { destination, headers, token } = await openProxy();
    await using stack = new AsyncDisposableStack();
    const { url, connections } = await openDoor(stack);
    const statuses = await client.callTwice({
      url: `${url}/proxy`,
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: `{"secret":"{{ ${token} }}"}`,
    });
    expect([statuses, connections()]).toEqual([[200, 200], 1]);
    expect(destination.seen.map(({ body }) => body)).toEqual(Array(2).fill('{"secret":"the value"}'));
    for (const seen of destination.seen) expect(Object.keys(seen.headers).join()).not.toMatch(/upgrade|http2|svc-/);
  });
});

test('the table of clients has these rows', () => {
  const table = readFileSync(new URL('../../../../infra/guides/http-clients.md', import.meta.url), 'utf8');
  const rows = [...table.matchAll(/^\| (?!client |---)(.*?) \|/gm)].map(([, name]) => name);
  expect(rows).toEqual(clients.map(({ name }) => name));
});

const curlHeaders = (headers: Record<string, string>) =>
  Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);

test('curl is asked for the upload that it announces with Expect, and sends all of it', async () => {
  const { destination, headers } = await openProxy();
  const file = join(folder, 'large');
  writeFileSync(file, Buffer.alloc(2 << 20, 'x'));
  const type = ['-H', 'Content-Type: image/png', '-H', 'Expect: 100-continue', '--expect100-timeout', '50'];
  const parameters = ['-sv', ...curlHeaders(headers), ...type, '-T', file, `${gateway.current.url}/proxy`];
  const { stdout, stderr } = await run('curl', parameters);
  expect(stderr).toMatch(/< HTTP\/1\.1 100 Continue[\s\S]*< HTTP\/1\.1 200 OK/);
  expect([stdout, destination.seen.map(({ body }) => body.length)]).toEqual(['{"ok":true}', [2 << 20]]);
});

test('curl -N has the head of an event stream, and causes the event that it then reads', async () => {
  const { destination, headers } = await openProxy();
  const { promise: caused, resolve: cause } = Promise.withResolvers<void>();
  destination.answer = async (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    await caused;
    response.end('data: 1\n\n');
  };
  const curl = spawn('curl', ['-sN', '-D', '-', ...curlHeaders(headers), `${gateway.current.url}/proxy`]);
  let got = '';
  curl.stdout.on('data', (chunk) => {
    got += chunk;
  });
  await eventually('the head', () => got.endsWith('\r\n\r\n'));
  cause();
  await eventually('the event', () => got.endsWith('data: 1\n\n'));
});

test('axios gets a coded answer as it is coded', async () => {
  const { destination, headers } = await openProxy();
  const coded = gzipSync('{"ok":true}');
  destination.answer = (request, response) => {
    expect(request.headers['accept-encoding']).toBe('gzip, compress, deflate, br');
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }).end(coded);
  };
  const client = openClient(gateway.current.url);
  const lines = ['Host: x', 'Accept-Encoding: gzip, compress, deflate, br', 'Connection: close'];
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  client.write(`GET /proxy HTTP/1.1\r\n${[...lines, ...own].join('\r\n')}\r\n\r\n`);
  const answer = Buffer.from(await client.ended, 'latin1');
  expect(answer.toString('latin1')).toMatch(/^content-encoding: gzip/im);
  expect(gunzipSync(answer.subarray(answer.indexOf(coded), answer.indexOf(coded) + coded.length)).toString()).toBe(
    '{"ok":true}',
  );
});

test('curl gets the refusal of a destination that does not read its upload, 15 times of 15', async () => {
  const { destination, headers } = await openProxy();
  const file = join(folder, 'upload');
  writeFileSync(file, Buffer.alloc(8 << 20, 'x'));
  const [usual] = destination.server.listeners('request') as RequestListener[];
  destination.server.removeAllListeners('request');
  destination.server.on('request', (request, response) => {
    response.writeHead(413, { Connection: 'close', 'Content-Length': 8 }).end('too much', () => request.destroy());
  });
  const statuses: string[] = [];
  try {
    const options = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', 'Expect:', '-H', 'Content-Type: image/png'];
    for (let i = 0; i < 15; i++) {
      const { stdout } = await run('curl', [
        ...options,
        ...curlHeaders(headers),
        '-T',
        file,
        `${gateway.current.url}/proxy`,
      ]);
      statuses.push(stdout);
    }
  } finally {
    destination.server.removeAllListeners('request');
    if (usual) destination.server.on('request', usual);
  }
  expect(statuses).toEqual(Array(15).fill('413'));
});
