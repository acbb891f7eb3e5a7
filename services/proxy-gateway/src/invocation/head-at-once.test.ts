import { eventually, useStack } from '@sluice/testing';
import { openClient } from '@sluice/testing/raw';
import { closeScenes, contentTypeOf, openScene, statusesIn, ways } from '../testing/scene.ts';
import { shareTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => shareTestGateway(stack));
afterEach(closeScenes);

describe.each(ways)('%s', (way) => {
  const post = (keys: string) =>
    `POST /proxy HTTP/1.1\r\nHost: x\r\n${keys}${contentTypeOf(way)}Connection: close\r\nContent-Length: 2\r\n\r\n{}`;

  test.each([
    ['a stream of events', 'Content-Type: text/event-stream\r\nTransfer-Encoding: chunked', '5\r\ndata:\r\n0\r\n\r\n'],
    ['a length', 'Content-Length: 5', 'data:'],
  ])('the head of an answer with %s is with the client before the destination has a body', async (_, framing, body) => {
    const scene = await openScene(gateway.current, {
      onRequest: (socket) => socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`),
    });
    const client = openClient(gateway.current.url);
    client.write(post(scene.keys));
    await eventually('the head', () => client.text().includes('\r\n\r\n'));
    expect(statusesIn(client.text())).toEqual([200]);
    for (const socket of scene.destination.sockets) socket.write(body);
    expect(await client.ended).toContain('data:');
  });

  test('an answer that comes in one piece goes out in one piece', async () => {
    const scene = await openScene(gateway.current, {
      onRequest: (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole'),
    });
    const client = openClient(gateway.current.url);
    const pieces: string[] = [];
    client.socket.on('data', (piece: Buffer) => pieces.push(piece.toString('latin1')));
    client.write(post(scene.keys));
    await client.ended;
    expect(pieces.map((piece) => piece.endsWith('\r\n\r\nwhole'))).toEqual([true]);
  });
});

test('an answer that is cut off before a response transform has seen it is 502, and says so', async () => {
  const { tenant, url } = gateway.current;
  const { destination } = await openScene(gateway.current, {
    onRequest: (socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a":1'),
  });
  const application = await tenant.application();
  const proxy = await tenant.proxy({
    destination: destination.url,
    responseTransform: 'module.exports = async (req) => req.args;',
  });
  const answer = await fetch(`${url}/proxy`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': application.key, 'SVC-PROXY-KEY': proxy.key },
  });
  expect([answer.status, answer.headers.get('svc-proxy-destination-status')]).toEqual([502, null]);
  expect(await answer.json()).toMatchObject({
    proxy_error: { title: 'Destination failed', detail: 'The response of the destination was interrupted' },
  });
});
