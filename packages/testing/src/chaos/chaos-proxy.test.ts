import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../eventually.ts';
import { serveBytes } from '../serve.ts';
import { type ChaosProxy, startChaosProxy } from './chaos-proxy.ts';

/** Everything that a test opened. */
let opened: AsyncDisposableStack;
let proxy: ChaosProxy;
/** What the server has received, over all connections. */
let received: string;

beforeEach(async () => {
  opened = new AsyncDisposableStack();
  received = '';
  const url = await serveBytes(opened, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      received += chunk;
      socket.write(chunk);
    });
  });
  proxy = await startChaosProxy(url, opened, { seed: 7 });
});

afterEach(() => opened.disposeAsync());

interface Client {
  socket: Socket;
  /** What came back so far. */
  text: () => string;
  /** How it ended, once it has: an error code, or `end`. */
  ended: Promise<string>;
}

async function dial({ url } = proxy): Promise<Client> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
  opened.defer(() => void socket.destroy());
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const ended = new Promise<string>((resolve) => {
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.once('end', () => resolve('end'));
  });
  await Promise.race([once(socket, 'connect'), ended]);
  return { socket, text: () => text, ended };
}

/** What is sent now comes back. */
async function expectEcho({ socket, text }: Client, sent: string): Promise<void> {
  const expected = text() + sent;
  socket.write(sent);
  await eventually('it has passed', () => text() === expected);
}

test('what is not disturbed passes as it is', async () => {
  await expectEcho(await dial(), 'x'.repeat(3_000_000));
  expect(proxy.connections).toBe(1);
});

test('latency delays what passes, in both directions, and keeps the order', async () => {
  proxy.disturb({ latencyMs: 60, jitterMs: 20 });
  const { socket, text } = await dial();
  const startedAt = performance.now();
  for (const letter of 'abcdefgh') {
    socket.write(letter);
    await wait(3);
  }
  await eventually('it has passed', () => text().length === 8);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(118);
  expect(text()).toBe('abcdefgh');
});

test('bandwidth bounds the rate', async () => {
  proxy.disturb({ bytesPerSecond: 100_000 }, 'to-server');
  const client = await dial();
  const startedAt = performance.now();
  await expectEcho(client, 'x'.repeat(20_000));
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(195);
});

test('a stalled direction holds what comes and delivers it later, although its sender has gone', async () => {
  proxy.stall('to-server');
  const { socket } = await dial();
  socket.end('late');
  await wait(60);
  expect(received).toBe('');
  proxy.calm();
  await eventually('it has passed', () => received === 'late');
});

test('a stall of the answers lets requests pass', async () => {
  proxy.stall('to-client');
  const { socket, text } = await dial();
  socket.write('asked');
  await eventually('it has passed', () => received === 'asked');
  await wait(30);
  expect(text()).toBe('');
  proxy.calm();
  await eventually('it has passed', () => text() === 'asked');
});

test('a cut resets open connections, loses what was held, and lets new ones in', async () => {
  const { socket, ended } = await dial();
  proxy.stall('to-server');
  socket.write('lost');
  await wait(30);
  proxy.cut();
  expect(await ended).toBe('ECONNRESET');
  proxy.calm();
  await expectEcho(await dial(), 'heard');
  expect(received).toBe('heard');
});

test('while it refuses, new connections fail and open ones stay', async () => {
  const before = await dial();
  proxy.refuse();
  expect(await (await dial()).ended).toBe('ECONNREFUSED');
  await expectEcho(before, 'still');
  await proxy.open();
  await expectEcho(await dial(), 'again');
});

test('a truncated direction ends after exactly so many bytes', async () => {
  proxy.disturb({ truncateAtByte: 5 }, 'to-client');
  const client = await dial();
  await expectEcho(client, '12');
  client.socket.write('34567');
  await client.ended;
  expect(client.text()).toBe('12345');
});

test('a server that is away looks like a reset', async () => {
  const away = await startChaosProxy('tcp://127.0.0.1:1', opened);
  expect(await (await dial(away)).ended).toBe('ECONNRESET');
});

test('observers see chunks before they are held', async () => {
  const seen: string[] = [];
  const stop = proxy.observe(({ direction, connection, chunk }) => seen.push(`${direction} ${connection} ${chunk}`));
  proxy.stall();
  const { socket } = await dial();
  socket.write('one');
  await eventually('it has passed', () => seen.length > 0);
  expect(seen).toEqual(['to-server 1 one']);
  stop();
});

test('a URL leads through the proxy with all else as it was', async () => {
  const { url } = await startChaosProxy('postgres://u:p@127.0.0.1:5432/db?x=1', opened, { port: 0 });
  expect(url).toMatch(/^postgres:\/\/u:p@127\.0\.0\.1:(?!5432)\d+\/db\?x=1$/);
});

test('shut, it resets what is open and refuses what is new, until it is opened again', async () => {
  const before = await dial();
  await proxy.shut();
  expect(await before.ended).toBe('ECONNRESET');
  expect(await (await dial()).ended).toBe('ECONNREFUSED');
  await proxy.open();
  await expectEcho(await dial(), 'again');
});
