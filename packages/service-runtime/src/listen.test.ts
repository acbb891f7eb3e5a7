import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '@sluice/testing';
import { listen } from './index.ts';

async function open(listener: RequestListener) {
  const stack = new AsyncDisposableStack();
  const drain = new AbortController();
  const port = await listen(createServer(listener), { host: '127.0.0.1', port: 0, stack, draining: drain.signal });
  const connected = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  return { connected, drain: () => drain.abort(), close: () => stack.disposeAsync() };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

const answersIn = (all: string) =>
  [...all.matchAll(/Connection: (\S+)[\s\S]*?\r\n\r\n(?:[0-9a-f]+\r\n)?(\/[a-z]*)/g)].map(([, connection, path]) => [
    path,
    connection,
  ]);

const echo: RequestListener = ({ url }, response) => {
  asked += 1;
  setTimeout(() => response.end(url), url === '/later' ? 200 : 0);
};

let asked = 0;
beforeEach(() => {
  asked = 0;
});

test('an idle connection is used once more while it drains, and ends with that answer', async () => {
  const server = await open(echo);
  const socket = await server.connected();
  const all = text(socket);
  socket.write(get('/one'));
  await once(socket, 'data');
  server.drain();
  await wait(50);
  socket.write(get('/two'));
  expect(answersIn(await all)).toEqual([
    ['/one', 'keep-alive'],
    ['/two', 'close'],
  ]);
  await server.close();
});

test.each(['before', 'while'])(
  'requests that came together %s it drains are all answered, the last closes',
  async (at) => {
    const server = await open(echo);
    const socket = await server.connected();
    const all = text(socket);
    const pipelined = get('/later') + get('/soon') + get('/later');
    if (at === 'before') {
      socket.write(pipelined);
      await eventually('the first', () => asked > 0);
    }
    server.drain();
    if (at === 'while') socket.write(pipelined);
    expect(answersIn(await all)).toEqual([
      ['/later', 'keep-alive'],
      ['/soon', 'keep-alive'],
      ['/later', 'close'],
    ]);
    await server.close();
  },
);

test('a client that always has more to ask does not hold up the close', async () => {
  const server = await open(echo);
  const socket = await server.connected();
  socket.on('error', () => undefined); // it writes after the end
  socket.resume().write(get('/one'));
  const asking = setInterval(() => socket.write(get('/later')), 20);
  server.drain();
  await wait(300);
  await server.close();
  clearInterval(asking);
});

test('connections that were never used, or are idle, do not hold up the close', async () => {
  const server = await open(echo);
  const unused = await server.connected();
  const idle = await server.connected();
  idle.write(get('/one'));
  await once(idle, 'data');
  const startedAt = performance.now();
  await server.close();
  expect(performance.now() - startedAt).toBeLessThan(4000);
  for (const socket of [unused, idle]) socket.destroy();
});

test('an answer that began before the draining is finished after it', async () => {
  const server = await open((_request, response) => {
    response.write('/begun');
    setTimeout(() => response.end(' and finished'), 400);
  });
  const socket = await server.connected();
  const all = text(socket);
  socket.write(get('/'));
  await once(socket, 'data');
  server.drain();
  await server.close();
  expect(await all).toContain(' and finished\r\n0\r\n\r\n');
});
