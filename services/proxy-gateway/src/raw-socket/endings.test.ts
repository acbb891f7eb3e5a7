import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually, useStack } from '@sluice/testing';
import { cutAnswers, openClient, readMessages, talk } from '@sluice/testing/raw';
import { closeScenes, contentTypeOf, openScene, type Scene, statusesIn, type Way, ways } from '../testing/scene.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => startTestGateway(stack));
afterEach(closeScenes);

const request = ({ keys }: Scene, way: Way, lines: string, version = '1.1') =>
  `POST /proxy HTTP/${version}\r\nHost: x\r\n${keys}${contentTypeOf(way)}${lines}\r\n`;
const whole = (scene: Scene, way: Way, more = '') => `${request(scene, way, `${more}Content-Length: 5\r\n`)}hello`;

async function errorCounts(): Promise<Record<string, number>> {
  const text = await gateway.current.metrics.metrics();
  const counts = text.matchAll(/^sluice_invocation_errors_total{code="(\w+)"} (\d+)$/gm);
  return Object.fromEntries([...counts].map(([, code, count]) => [code, Number(count)]));
}

const leavings: [string, (socket: Socket) => void][] = [
  ['closes', (socket) => socket.destroy()],
  ['resets', (socket) => socket.resetAndDestroy()],
];

describe.each(ways)('%s', (way) => {
  describe.each(leavings)('a client that %s', (_, leave) => {
    test.each([
      ['in the head', '', 'GET /proxy/x HTT'],
      ['before its body', 'Content-Length: 50\r\n', ''],
      ['in its body', 'Content-Length: 50\r\n', 'hello'],
      ['before its first chunk', 'Transfer-Encoding: chunked\r\n', ''],
      ['in a chunk', 'Transfer-Encoding: chunked\r\n', '10\r\nhello'],
      ['between chunks', 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n'],
      ['before the last line', 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n'],
    ])('%s: the destination never has a whole request, and no connection stays', async (place, lines, part) => {
      const scene = await openScene(gateway.current, {});
      const client = openClient(gateway.current.url);
      client.write(place === 'in the head' ? part : request(scene, way, lines) + part);
      await wait(40);
      leave(client.socket);
      await wait(40);
      const { destination } = scene;
      expect(destination.seen()).toEqual([]);
      if (way === 'held') expect(destination.texts).toEqual([]);
      await eventually('the end at the destination', () => destination.sockets.every(({ destroyed }) => destroyed));
    });

    test('while it waits for the head: the call is given up', async () => {
      const scene = await openScene(gateway.current, {});
      const client = openClient(gateway.current.url);
      client.write(whole(scene, way));
      await eventually('the call', () => scene.destination.seen().length === 1);
      leave(client.socket);
      await eventually('its end', () => scene.destination.sockets.every(({ destroyed }) => destroyed));
    });

    test('in the middle of the answer: the call is given up', async () => {
      const scene = await openScene(gateway.current, {
        onRequest: (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'),
      });
      const client = openClient(gateway.current.url);
      client.write(whole(scene, way));
      await eventually('the half', () => client.text().endsWith('half'));
      leave(client.socket);
      await eventually('its end', () => scene.destination.sockets.every(({ destroyed }) => destroyed));
    });

    test('after the answer: the connection to the destination is kept and used again', async () => {
      const scene = await openScene(gateway.current);
      for (let i = 0; i < 3; i++) {
        const client = openClient(gateway.current.url);
        client.write(whole(scene, way));
        await eventually('the answer', () => statusesIn(client.text()).length === 1);
        leave(client.socket);
      }
      expect(scene.destination.sockets).toHaveLength(1);
      expect(scene.destination.seen()).toHaveLength(3);
    });
  });

  const ends: [string, (socket: Socket) => void][] = [
    ['closed', (socket) => socket.end()],
    ['reset', (socket) => socket.resetAndDestroy()],
  ];

  describe.each(ends)('a destination’s connection that is %s', (kind, end) => {
    test.each(['', 'H', 'HTTP/1.1 200', 'HTTP/1.1 200 OK\r\nX-A', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n'])(
      'after %j is 502',
      async (part) => {
        const scene = await openScene(gateway.current, {
          onRequest: (socket) => void socket.write(part, () => setTimeout(end, 10, socket)),
        });
        const { text } = await talk(gateway.current.url, whole(scene, way, 'Connection: close\r\n'));
        expect(readMessages(text).messages.map(({ start }) => start)).toEqual(['HTTP/1.1 502 Bad Gateway']);
        expect(scene.destination.seen()).toHaveLength(1);
      },
    );

    describe.each(['1.1', '1.0'])('HTTP/%s', (version) => {
      test.each(cutAnswers)('%s, %j: the part never looks like the whole', async (_, part) => {
        const scene = await openScene(gateway.current, {
          onRequest: (socket) => void socket.write(`HTTP/1.1 200 OK\r\n${part}`, () => setTimeout(end, 30, socket)),
        });
        const client = openClient(gateway.current.url);
        client.write(`${request(scene, way, 'Content-Length: 5\r\n', version)}hello`);
        const text = await client.ended;
        const hasEnded = !client.isReset();
        expect(readMessages(text, { hasEnded }).messages).toEqual([]);
      });
    });

    test(`a body that ends with the connection, ${kind}`, async () => {
      const scene = await openScene(gateway.current, {
        onRequest: (socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\nhello', () => setTimeout(end, 30, socket)),
      });
      for (const version of ['1.1', '1.0']) {
        const client = openClient(gateway.current.url);
        client.write(`${request(scene, way, 'Connection: close\r\nContent-Length: 5\r\n', version)}hello`);
        const { messages } = readMessages(await client.ended, { hasEnded: !client.isReset() });
        expect(messages.map(({ body }) => body)).toEqual(kind === 'closed' ? ['hello'] : []);
      }
    });
  });

  test('an answer that is cut off counts as a failure of its destination, and not as ours', async () => {
    const before = await errorCounts();
    const scene = await openScene(gateway.current, {
      onRequest: (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell'),
    });
    await talk(gateway.current.url, whole(scene, way, 'Connection: close\r\n'));
    expect(await errorCounts()).toEqual({ ...before, destination_failed: (before.destination_failed ?? 0) + 1 });
  });

  test('an answer before the body was read arrives, and the destination gets no second request', async () => {
    const early = 'HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig';
    let isAnswered = false;
    const scene = await openScene(gateway.current, {
      onBytes(socket) {
        if (isAnswered) return;
        isAnswered = true;
        socket.write(early);
        socket.pause();
      },
    });
    const body = 'x'.repeat(2 << 20);
    const client = openClient(gateway.current.url);
    client.write(`${request(scene, way, `Content-Length: ${body.length}\r\n`)}${body}`);
    await eventually('the answer', () => client.text().endsWith('\r\n\r\nbig'));
    expect(statusesIn(client.text())).toEqual([413]);
    expect(scene.destination.sockets).toHaveLength(1);
    client.socket.destroy();
  });

  test('a destination that answers early and resets ends as its answer or as 502, and never hangs', async () => {
    const scene = await openScene(gateway.current, {
      onBytes: (socket) =>
        void socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig', () => socket.resetAndDestroy()),
    });
    const body = 'x'.repeat(2 << 20);
    const { text } = await talk(
      gateway.current.url,
      `${request(scene, way, `Content-Length: ${body.length}\r\nConnection: close\r\n`)}${body}`,
      { until: (soFar) => statusesIn(soFar).length > 0 },
    );
    expect([413, 502]).toContain(statusesIn(text)[0]);
    expect(scene.destination.sockets).toHaveLength(1);
  });
});
