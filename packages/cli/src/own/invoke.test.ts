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
  expect([code, out, error]).toEqual([1, '{"id":', 'The response was interrupted: it is not complete\n']);
});

test.each<[string, number, Record<string, string>, number, string]>([
  ['of the gateway itself: as of every service', 503, {}, 3, 'is from Sluice'],
  ['of the destination: it was reached', 503, reached, 1, 'The destination answered 503'],
  ['that is no 503, of the gateway', 502, {}, 1, 'is from Sluice'],
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

test.each<[string, string[], string]>([
  ['with a path', ['--route', 'processor', '/charges?x=1'], '/routes/processor/charges?x=1'],
  ['without', ['--route', 'processor'], '/routes/processor'],
])('a route is called by its name with the private key alone: %s', async (_name, words, expected) => {
  await using closing = new AsyncDisposableStack();
  const { url, seen } = await startService(closing, () => ({ status: 200, headers: reached, body: {} }));
  const env = { SLUICE_URL: url, SLUICE_API_KEY: keys.private };
  const { code } = await type(['proxies', 'invoke', ...words], { env, isTerminal: false });
  expect([code, seen.map((one) => one.url)]).toEqual([0, [expected]]);
  const [{ headers } = {}] = seen;
  expect([headers?.['svc-api-key'], headers?.['svc-proxy-key']]).toEqual([keys.private, undefined]);
});

test.each<[string, string[], string]>([
  ['neither Proxy nor route', [], 'PROXY is missing'],
  ['a Proxy and a route', ['--route', 'a', 'payments', '/x'], 'Give PROXY or --route, not both'],
  ['a name that no route has', ['--route', '../tokens'], 'path_name of its Proxy'],
])('%s is a usage error', async (_name, words, message) => {
  await using closing = new AsyncDisposableStack();
  const { url, seen } = await startService(closing, () => ({ status: 200, body: {} }));
  const env = { SLUICE_URL: url, SLUICE_API_KEY: keys.private };
  const { code, error } = await type(['proxies', 'invoke', ...words], { env, isTerminal: false });
  expect([code, error, seen]).toEqual([2, expect.stringContaining(message), []]);
});
