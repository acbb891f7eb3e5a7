import { execFile } from 'node:child_process';
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { fullRunOnly } from '@sluice/testing';
import HttpProxy from 'http-proxy';
import {
  closeAll,
  exchange,
  onClose,
  startFront,
  startScript,
  startServer,
  until,
} from '../testing/destination-servers.ts';

afterEach(closeAll);

const execute = promisify(execFile);
const program = new URL('../testing/bare-proxy-in-own-process.ts', import.meta.url).pathname;

// Faults of plain http-proxy 1.18.1, as controls for the tests of stream-through.ts. When one of these fails, the
// library has changed, and its workaround may be removed.

async function startBare(target: string, hook?: () => void) {
  const agent = new Agent({ keepAlive: true });
  onClose(() => agent.destroy());
  const proxy = HttpProxy.createProxyServer({ target, agent });
  if (hook) proxy.on('proxyReq', hook);
  return { url: await startFront((incoming, response) => proxy.web(incoming, response, {}, () => response.destroy())) };
}

const smuggled = '2b\r\nGET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n\r\n0\r\n\r\n';

test.each(['DELETE', 'OPTIONS'])('the chunked body of a %s becomes a second request', async (method) => {
  const { origin, received } = await startServer();
  const { url } = await startBare(origin);
  const bytes = `${method} /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${smuggled}`;
  await exchange(url, bytes, (reply) => reply.includes('200'));
  await until(() => received.length === 2);
  expect(received.map((request) => request.url)).toEqual(['/a', '/smuggled']);
});

fullRunOnly()('a Trailer header ends the process; the control, the same without it, does not', async () => {
  const { origin } = await startServer();
  const run = async (more: string) => {
    const bytes = `GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`;
    const { stdout, stderr } = await execute(process.execPath, [program, origin, bytes]).catch((error) => error);
    return { stdout, isTrailerFault: /ERR_HTTP_TRAILER_INVALID/.test(stderr) };
  };
  expect(await run('')).toEqual({ stdout: 'survived', isTrailerFault: false });
  expect(await run('Trailer: X-T\r\n')).toEqual({ stdout: '', isTrailerFault: true });
});

test('Expect skips the hook that would set headers', async () => {
  const { origin } = await startServer();
  let hooked = 0;
  const { url } = await startBare(origin, () => hooked++);
  const post = (more: string) =>
    `POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}Content-Length: 1\r\n\r\ny`;
  await exchange(url, post(''));
  expect(hooked).toBe(1);
  await exchange(url, post('Expect: 100-continue\r\n'));
  expect(hooked).toBe(1);
});

test('a client that goes away leaves the connection to the destination open', async () => {
  const { origin, sockets } = await startScript(() => undefined);
  const { url } = await startBare(origin);
  const client = httpRequest(`${url}/a`).on('error', () => undefined);
  client.end();
  await until(() => (sockets[0]?.bytesRead ?? 0) > 0);
  client.destroy();
  await wait(500);
  expect(sockets[0]?.destroyed).toBe(false);
});

test.each([
  ['by its length', 'Content-Length: 10\r\n\r\nhello'],
  ['between chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'],
])('of an answer that is cut off %s the client hears nothing', async (_, part) => {
  const { origin } = await startScript((socket) => {
    socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${part}`));
  });
  const { url } = await startBare(origin);
  let hasEnded = false;
  const reply = exchange(url, 'GET /a HTTP/1.1\r\nHost: x\r\n\r\n').then(() => {
    hasEnded = true;
  });
  await wait(500);
  expect(hasEnded).toBe(false);
  await closeAll();
  await reply;
});

test('hop-by-hop headers pass both ways', async () => {
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
    ]);
    response.end();
  });
  const { url } = await startBare(origin);
  const head =
    'GET /a HTTP/1.1\r\nHost: x\r\nConnection: close, X-There\r\nX-There: 1\r\nTE: trailers\r\nProxy-Authorization: p\r\nKeep-Alive: timeout=9\r\n\r\n';
  const reply = (await exchange(url, head)).toLowerCase();
  const sent = received[0]?.headers.join('\n').toLowerCase() ?? '';
  for (const name of ['x-back', 'proxy-authenticate', 'timeout=9']) expect(reply).toContain(name);
  for (const name of ['x-there', 'te\n', 'proxy-authorization', 'timeout=9']) expect(sent).toContain(name);
});

test('doubled slashes are folded, also in the query', async () => {
  const { origin, received } = await startServer();
  const { url } = await startBare(`${origin}/base`);
  await exchange(url, 'GET /a//b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(received[0]?.url).toBe('/base/a/b');
});
