import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';

/** Bodies that are held until their end, and come in chunks of one byte. */
const gateway = useStack((stack) => startTestGateway(stack, { TRANSFORM_WALL_MS: '20000' }));

const keep = 'module.exports = async () => ({})';
const count = 300_000;
const chunks = '1\r\nx\r\n'.repeat(count);
const mostBytesEach = 40;
/** Connections with many small chunks are read slowly. */
const readWithinMs = 2000;

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function memory(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Writes the chunks without an end. @returns the memory that they take once the other side has read them. */
async function memoryOf(socket: Socket, head: string): Promise<number> {
  const before = memory();
  socket.write(head);
  await new Promise((resolve) => socket.write(chunks, 'latin1', resolve));
  await sleep(readWithinMs);
  return memory() - before;
}

test('a request of many chunks takes about as much memory as its bytes', async () => {
  const { tenant, destination, url } = gateway.current;
  const { key } = await tenant.proxy({ destination: destination.url, requireAuth: false, requestTransform: keep });
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = [
    `Host: ${hostname}`,
    `SVC-PROXY-KEY: ${key}`,
    'Content-Type: text/plain',
    'Transfer-Encoding: chunked',
  ];
  const head = `POST /proxy HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
  const used = await memoryOf(socket, head);
  socket.write('0\r\n\r\n');
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  expect(destination.seen.at(-1)?.body).toHaveLength(count);
  expect(used / count).toBeLessThan(mostBytesEach);
  socket.destroy();
});

test('an answer of many chunks takes about as much memory as its bytes', async () => {
  const { tenant, destination, url } = gateway.current;
  const { key } = await tenant.proxy({ destination: destination.url, requireAuth: false, responseTransform: keep });
  const asked = Promise.withResolvers<Socket>();
  destination.answer = ({ socket }) => asked.resolve(socket);
  const answered = fetch(`${url}/proxy`, { headers: { 'SVC-PROXY-KEY': key } });
  const socket = await asked.promise;
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n';
  const used = await memoryOf(socket, head);
  socket.end('0\r\n\r\n');
  expect(await (await answered).text()).toHaveLength(count);
  expect(used / count).toBeLessThan(mostBytesEach);
});
