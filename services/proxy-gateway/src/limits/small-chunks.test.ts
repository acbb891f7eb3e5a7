import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually, slow, useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => startTestGateway(stack));

const keep = 'module.exports = async () => ({})';
const count = 300_000;
const chunks = '1\r\nx\r\n'.repeat(count);
const mostBytesEach = 40;

const sockets: Socket[] = [];
const note = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
const channels = ['net.server.socket', 'net.client.socket'];
beforeAll(() => {
  for (const name of channels) subscribe(name, note);
});
afterAll(() => {
  for (const name of channels) unsubscribe(name, note);
});

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function memory(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Leaves the body without an end, and waits until the gateway has read the chunks and keeps little more than them. */
async function sendAndMeasure(socket: Socket, head: string): Promise<void> {
  const before = memory();
  socket.write(head);
  await new Promise((resolve) => socket.write(chunks, 'latin1', resolve));
  await eventually('all is read', () => {
    const other = sockets.find(
      ({ localPort, remotePort }) => localPort === socket.remotePort && remotePort === socket.localPort,
    );
    return (other?.bytesRead ?? 0) >= head.length + chunks.length;
  });
  await eventually('about as much memory as its bytes', () => (memory() - before) / count < mostBytesEach);
}

slow('2.8 s')('a request of many chunks takes about as much memory as its bytes', async () => {
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
  await sendAndMeasure(socket, head);
  socket.write('0\r\n\r\n');
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  expect(destination.seen.at(-1)?.body).toHaveLength(count);
  socket.destroy();
});

slow('2.3 s')('an answer of many chunks takes about as much memory as its bytes', async () => {
  const { tenant, destination, url } = gateway.current;
  const { key } = await tenant.proxy({ destination: destination.url, requireAuth: false, responseTransform: keep });
  const asked = Promise.withResolvers<Socket>();
  destination.answer = ({ socket }) => asked.resolve(socket);
  const answered = fetch(`${url}/proxy`, { headers: { 'SVC-PROXY-KEY': key } });
  const socket = await asked.promise;
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n';
  await sendAndMeasure(socket, head);
  socket.end('0\r\n\r\n');
  expect(await (await answered).text()).toHaveLength(count);
});
