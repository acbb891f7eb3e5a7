import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { slow } from '@sluice/testing';
import { endRefusal } from './end-refusal.ts';

const mebibyte = 1024 * 1024;
const head = (length: number, extra = '') => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n${extra}\r\n`;

async function open(stack: AsyncDisposableStack, listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => server.closeAllConnections());
  stack.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return () => connect(port, '127.0.0.1');
}

const refuse =
  (limits?: Parameters<typeof endRefusal>[2]): RequestListener =>
  (_request, response) => {
    response.writeHead(413, { 'Content-Length': 2 });
    endRefusal(response, 'no', limits);
  };

/** The answer to a client that sends its whole body before it reads; undefined where it was lost. */
async function answerAfterSending(socket: ReturnType<typeof connect>, bytes: number) {
  let received = '';
  socket.pause();
  socket.write(head(bytes, 'Connection: close\r\n'));
  const sent = new Promise<void>((resolve) => {
    socket.on('error', () => resolve());
    socket.write(Buffer.alloc(bytes), () => resolve());
  });
  await sent;
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.resume();
  if (!socket.closed) await once(socket, 'close');
  return received === '' ? undefined : received;
}

slow('1.5 s')('one that sends its whole body before it reads gets the answer', async () => {
  await using stack = new AsyncDisposableStack();
  const dial = await open(stack, refuse());
  for (let i = 0; i < 5; i++) expect(await answerAfterSending(dial(), 32 * mebibyte)).toContain(' 413 ');
});

test('which it does not where the rest is left unread', async () => {
  await using stack = new AsyncDisposableStack();
  const dial = await open(stack, (_request, response) => {
    response.writeHead(413, { Connection: 'close' }).end('no');
    response.on('finish', () => response.socket?.destroy());
  });
  const answers = await Promise.all(Array.from({ length: 5 }, () => answerAfterSending(dial(), 32 * mebibyte)));
  expect(answers).toContain(undefined);
});

test('the connection serves the next request', async () => {
  await using stack = new AsyncDisposableStack();
  const dial = await open(stack, refuse());
  const socket = dial();
  socket.write(head(3 * mebibyte));
  socket.write(Buffer.alloc(3 * mebibyte));
  socket.write(head(1, 'Connection: close\r\n'));
  socket.write('x');
  expect((await text(socket)).match(/ 413 /g)).toHaveLength(2);
});

test.each([
  ['more than the limit of bytes', { mostBytes: mebibyte, longestMs: 60_000 }, 3 * mebibyte],
  ['longer than the limit of time', { mostBytes: mebibyte, longestMs: 50 }, 1000],
])('%s closes the connection', async (_name, limits, bytes) => {
  await using stack = new AsyncDisposableStack();
  const dial = await open(stack, refuse(limits));
  const socket = dial().on('error', () => undefined);
  socket.write(head(1e9));
  socket.write(Buffer.alloc(bytes));
  socket.resume();
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on('close', () => resolve());
  await promise;
});
