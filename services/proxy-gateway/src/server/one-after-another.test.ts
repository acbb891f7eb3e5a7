import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { createOrderedServer, listen } from '@sluice/service-runtime';
import { eventually, slow, useStack } from '@sluice/testing';
import { openClient } from '@sluice/testing/raw';

/** One read of Node brings at most 64 KiB of requests of 29 bytes. */
const mostInOneRead = 2300;

const scene = useStack(async (stack) => {
  const counts = { parsed: 0, served: 0, mostAhead: 0 };
  let answers: (request: IncomingMessage, response: ServerResponse) => void = () => {};
  const count = (request: IncomingMessage, response: ServerResponse) => {
    counts.served++;
    answers(request, response);
  };
  const { server } = createOrderedServer(count, {
    refuse: (_error, socket) => void socket.destroy(),
    refuseConnect: (socket) => void socket.destroy(),
  });
  server.prependListener('request', () => {
    counts.parsed++;
    counts.mostAhead = Math.max(counts.mostAhead, counts.parsed - counts.served);
  });
  const port = await listen(server, { host: '127.0.0.1', port: 0, stack });
  stack.defer(() => server.closeAllConnections());
  const begin = (listener: typeof answers) => {
    Object.assign(counts, { parsed: 0, served: 0, mostAhead: 0 });
    answers = listener;
  };
  return { url: `http://127.0.0.1:${port}`, counts, begin };
});

const requests = (count: number, more = '', body = '') =>
  Array.from({ length: count }, (_, i) => `GET /${i} HTTP/1.1\r\nHost: x\r\n${more}\r\n${body}`).join('');

const answered = (text: string) => [...text.matchAll(/\r\n\r\n\/(\d+)/g)].map(([, path]) => Number(path));

async function untilAnswered(isDone: () => boolean): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!isDone() && performance.now() < deadline) await wait(10);
}

test.each([
  ['alone', ''],
  [
    'behind a body that filled its buffer',
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n${'x'.repeat(70_000)}`,
  ],
])('while one request is not answered, only what a read brings is taken in behind it, %s', async (_, before) => {
  const { url, counts, begin } = scene.current;
  begin(() => {});
  const client = openClient(url);
  client.write(requests(1) + before + requests(300_000));
  await eventually('the first', () => counts.served === 1);
  await wait(500);
  expect(counts.served).toBe(1);
  expect(counts.parsed).toBeLessThan(64 + mostInOneRead);
  client.socket.destroy();
});

test.each([
  ['at once', 6000, '', '', (send: () => void) => send()],
  ['later', 6000, '', '', (send: () => void) => void setImmediate(send)],
  [
    'with a body that nobody reads',
    400,
    'Content-Length: 70000\r\n',
    'x'.repeat(70_000),
    (send: () => void) => void setImmediate(send),
  ],
])('a flood that is answered %s is taken in as it is answered, and in order', async (_, count, more, body, when) => {
  const { url, counts, begin } = scene.current;
  begin((request, response) => when(() => response.end(request.url)));
  const client = openClient(url);
  client.write(requests(count, more, body));
  await untilAnswered(() => counts.served === count && client.text().endsWith(`/${count - 1}`));
  expect(answered(client.text())).toEqual(Array.from({ length: count }, (_, i) => i));
  expect(counts.mostAhead).toBeLessThan(64 + mostInOneRead);
  client.socket.destroy();
});

slow('1.3 s')('answers that the client is slow to read do not let more requests in', async () => {
  const { url, counts, begin } = scene.current;
  begin((_request, response) => void setImmediate(() => response.end('x'.repeat(200_000))));
  const client = openClient(url);
  client.socket.pause();
  client.write(requests(100_000));
  for (let i = 0; i < 40; i++) {
    await wait(10);
    client.socket.resume();
    await wait(5);
    client.socket.pause();
  }
  expect(counts.served).toBeGreaterThan(20);
  expect(counts.parsed - counts.served).toBeLessThan(64 + mostInOneRead);
  client.socket.destroy();
});

slow('1.2 s')('bodies that are read by their requests come whole, whatever waits behind them', async () => {
  const { url, counts, begin } = scene.current;
  begin((request, response) => {
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
    });
    request.on('end', () => void setImmediate(() => response.end(`/${size}`)));
  });
  const client = openClient(url);
  const pieces = [requests(100), requests(1, 'Content-Length: 300000\r\n', 'x'.repeat(300_000)), requests(100)];
  client.write(pieces.join('').repeat(5));
  await untilAnswered(() => counts.served === 1005 && answered(client.text()).length === 1005);
  expect(answered(client.text()).filter((size) => size === 300_000)).toHaveLength(5);
  client.socket.destroy();
});
