import { listen } from '@sluice/service-runtime';
import { eventually, useStack } from '@sluice/testing';
import { exchangeRaw } from '@sluice/testing/raw';
import { createHttpServer } from './http-server.ts';

let held = Promise.resolve();
const served: string[] = [];
beforeEach(() => served.splice(0));

const reachedOnce = (path: string) => eventually(path, () => served.includes(path));

const port = useStack(async (stack) => {
  const server = createHttpServer(async ({ url = '' }, response) => {
    served.push(url);
    if (url === '/held') await held;
    response.end('reached');
  });
  return { number: await listen(server, { host: '127.0.0.1', port: 0, stack }) };
});

const exchange = (...pieces: string[]) => exchangeRaw(port.current.number, ...pieces);

test.each([
  ['what is no HTTP', 'nonsense\r\n\r\n', 400],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
  [
    'a length beside chunks',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    400,
  ],
  ['a header block over 16 KiB', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(17 * 1024)}\r\n\r\n`, 431],
])('%s is answered with a problem document, and the connection ends', async (_, bytes, status) => {
  const answer = await exchange(bytes);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head).toContain('application/problem+json');
  expect(head).toContain('Connection: close');
  expect(JSON.parse(body)).toMatchObject({ status, instance: expect.stringMatching(/^[0-9a-f-]{36}$/) });
});

test('a request that is in order reaches the service', async () => {
  expect(await exchange('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toContain('reached');
});

test('answers that are owed go out before the answer to what the parser refuses', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  held = promise;
  const received = exchange('GET /held HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n');
  await reachedOnce('/held');
  resolve();
  const [first = '', second = ''] = (await received).split(/(?=HTTP\/1\.1 )/);
  expect(first).toMatch(/^HTTP\/1\.1 200 .*reached/s);
  expect(second).toMatch(/^HTTP\/1\.1 400 .*application\/problem\+json/s);
});

test('requests of one connection are served one after another', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  held = promise;
  const received = exchange(
    'GET /held HTTP/1.1\r\nHost: x\r\n\r\nGET /behind HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  );
  await reachedOnce('/held');
  expect(served).not.toContain('/behind');
  resolve();
  await received;
  expect(served).toEqual(['/held', '/behind']);
});

test('a head that does not come to its end is 408', async () => {
  expect(await exchange('GET / HTTP/1.1\r\nHost: x\r\nX: ')).toMatch(/^HTTP\/1\.1 408 .*"status":408/s);
});
