import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { keys, startService, type } from '../testing/test-command-line.ts';

type Answer = Parameters<typeof startService>[1];

async function invoke(answer: Answer) {
  await using closing = new AsyncDisposableStack();
  const { url } = await startService(closing, answer);
  const env = { SLUICE_URL: url, SLUICE_API_KEY: keys.private, SLUICE_PROXY_KEY: 'k' };
  return await type(['proxies', 'invoke', '-', '/x'], { env, isTerminal: false });
}

const reached = { 'svc-proxy-destination-status': '200' };

test('an answer that breaks off is told in a line, and leaves with 1', async () => {
  const cut: Answer = (_seen, _request, response) => {
    response.writeHead(200, { ...reached, 'content-length': '100' });
    response.write('{"id":', () => response.destroy());
  };
  const { code, out, error } = await invoke(cut);
  expect([code, out, error]).toEqual([1, '{"id":', 'The answer broke off: it is not complete\n']);
});

test.each<[string, number, Record<string, string>, number, string]>([
  ['of the gateway itself: as of every service', 503, {}, 3, 'of the Proxy itself'],
  ['of the destination: it was reached', 503, reached, 1, 'The destination answered 503'],
  ['that is no 503, of the gateway', 502, {}, 1, 'of the Proxy itself'],
])('an answer %s', async (_name, status, headers, expected, message) => {
  const { code, error } = await invoke(() => ({ status, headers, body: {} }));
  expect([code, error]).toEqual([expected, expect.stringContaining(message)]);
});

test('the bytes of a file and of standard input are the body', async () => {
  await using closing = new AsyncDisposableStack();
  const received: Buffer[] = [];
  const server = createServer(async (request, response) => {
    received.push(await buffer(request));
    response.writeHead(200, reached).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(() => server.closeAllConnections());
  closing.defer(() => void server.close());
  const folder = await mkdtemp(join(tmpdir(), 'sluice-body-'));
  closing.defer(() => rm(folder, { recursive: true, force: true }));
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0, 0xff, 0xfe, 0x80, 0x0d, 0x0a, 0xc3]);
  const file = join(folder, 'file.bin');
  await writeFile(file, bytes);
  const { port } = server.address() as AddressInfo;
  const env = { SLUICE_URL: `http://127.0.0.1:${port}`, SLUICE_API_KEY: keys.private, SLUICE_PROXY_KEY: 'k' };
  for (const [data, stdin] of [
    [`@${file}`, ''],
    ['-', bytes],
  ] as const) {
    const { code } = await type(['proxies', 'invoke', '-', '/x', '--data', data], { env, stdin, isTerminal: false });
    expect([code, received.pop()]).toEqual([0, bytes]);
  }
});
