import type { Socket } from 'node:net';
import { useStack } from '@sluice/testing';
import { talk } from '@sluice/testing/raw';
import { closeAll, startScript } from '../testing/destination-servers.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => startTestGateway(stack));
afterEach(closeAll);

const head = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n';

const later = (step: () => unknown) => setTimeout(step, 20);

async function call(play: (socket: Socket) => unknown, { method = 'POST', contentType = 'application/json' } = {}) {
  const { tenant, url } = gateway.current;
  const { origin } = await startScript((socket) => socket.once('data', () => play(socket)));
  const application = await tenant.application();
  const proxy = await tenant.proxy({ destination: origin });
  const keys = `SVC-API-KEY: ${application.key}\r\nSVC-PROXY-KEY: ${proxy.key}\r\n`;
  const framing = `Content-Type: ${contentType}\r\nContent-Length: 2\r\nConnection: close\r\n`;
  const { text } = await talk(url, `${method} /proxy HTTP/1.1\r\nHost: x\r\n${keys}${framing}\r\n{}`);
  const [first = '', body] = text.split('\r\n\r\n');
  return { status: first.slice(9, 12), length: /content-length: *(\S+)/i.exec(first)?.[1], body };
}

async function errorCounts(): Promise<Record<string, number>> {
  const text = await gateway.current.metrics.metrics();
  const counts = text.matchAll(/^sluice_invocation_errors_total{code="(\w+)"} (\d+)$/gm);
  return Object.fromEntries([...counts].map(([, code, count]) => [code, Number(count)]));
}

describe.each([
  ['a pooled connection', 'application/json'],
  ['a stream', 'image/png'],
])('over %s', (_, contentType) => {
  test.each<[string, (socket: Socket) => unknown]>([
    ['at once', (socket) => socket.write(`${head}hello`)],
    ['behind its head', (socket) => socket.write(head, () => later(() => socket.write('hello')))],
    ['in pieces', (socket) => socket.write(`${head}he`, () => later(() => socket.write('llo')))],
    ['at once, and is closed', (socket) => socket.end(`${head}hello`)],
    ['at once, and is reset', (socket) => socket.write(`${head}hello`, () => later(() => socket.resetAndDestroy()))],
    ['with more behind it', (socket) => socket.end(`${head}hello and more`)],
  ])('an answer that comes %s is whole', async (__, play) => {
    expect(await call(play, { contentType })).toEqual({ status: '200', length: '5', body: 'hello' });
  });

  test.each<[string, (socket: Socket) => unknown]>([
    ['closed', (socket) => socket.end(`${head}hell`)],
    ['reset', (socket) => socket.write(`${head}hell`, () => later(() => socket.resetAndDestroy()))],
  ])('one that lacks a byte when it is %s is cut off', async (__, play) => {
    expect(await call(play, { contentType })).toEqual({ status: '200', length: '5', body: 'hell' });
  });

  test('one that is cut off counts as a failure of its destination, and not as ours', async () => {
    const before = await errorCounts();
    await call((socket) => socket.end(`${head}hell`), { contentType });
    const after = await errorCounts();
    expect(after).toEqual({ ...before, destination_failed: (before.destination_failed ?? 0) + 1 });
  });

  test('one with a length and chunks is refused', async () => {
    const both = head.replace('\r\n\r\n', '\r\nTransfer-Encoding: chunked\r\n\r\n');
    const chunks = '5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n';
    expect(await call((socket) => socket.write(both + chunks), { contentType })).toMatchObject({ status: '502' });
  });

  test.each([
    ['HEAD', '200'],
    ['POST', '304'],
  ])('an answer to %s with the status %s has a length and no body', async (method, status) => {
    const answer = await call((socket) => socket.write(head.replace('200', status)), { method, contentType });
    expect(answer).toEqual({ status, length: '5', body: '' });
  });
});
