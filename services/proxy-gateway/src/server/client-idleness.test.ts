import { setTimeout as wait } from 'node:timers/promises';
import { eventually, slow, useStack } from '@sluice/testing';
import { okAnswer, openClient, readMessages, talk } from '@sluice/testing/raw';
import { closeScenes, contentTypeOf, openScene, statusesIn, ways } from '../testing/scene.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const idleMs = 1000;
const gateway = useStack((stack) => startTestGateway(stack, { CLIENT_IDLE_TIMEOUT_MS: `${idleMs}` }));
afterEach(closeScenes);

test('a connection on which nothing is asked is closed', async () => {
  const client = openClient(gateway.current.url);
  await eventually('the end', client.hasEnded);
  expect(client.text()).toBe('');
});

describe.each(ways)('%s', (way) => {
  const post = (keys: string, length: number) =>
    `POST /proxy HTTP/1.1\r\nHost: x\r\n${keys}${contentTypeOf(way)}Connection: close\r\nContent-Length: ${length}\r\n\r\n`;

  test('a body that stands still is 408, and its call is given up', async () => {
    const scene = await openScene(gateway.current);
    const client = openClient(gateway.current.url);
    client.write(`${post(scene.keys, 100)}only a part`);
    const { messages, rest } = readMessages(await client.ended);
    expect([messages.map(({ start }) => start), rest]).toEqual([['HTTP/1.1 408 Request timeout'], '']);
    expect(JSON.parse(messages[0]?.body ?? '')).toMatchObject({ proxy_error: { status: 408 } });
    await eventually('the end', () => scene.destination.sockets.every(({ destroyed }) => destroyed));
    expect(scene.destination.seen()).toEqual([]);
  });

  test('a body that moves may take longer than the bound', async () => {
    const scene = await openScene(gateway.current);
    const pieces = [post(scene.keys, 8), ...Array.from({ length: 8 }, () => 'x')];
    const { text } = await talk(gateway.current.url, pieces, { pauseMs: idleMs / 4 });
    expect(statusesIn(text)).toEqual([200]);
    expect(scene.destination.seen().map(({ body }) => body)).toEqual(['x'.repeat(8)]);
  });

  test('a client that waits for a slow destination is not idle', async () => {
    const scene = await openScene(gateway.current, {
      onRequest: (socket) => void setTimeout(() => socket.write(okAnswer('late')), 2.5 * idleMs),
    });
    const { text } = await talk(gateway.current.url, `${post(scene.keys, 2)}{}`);
    expect(statusesIn(text)).toEqual([200]);
  });

  slow('1.1 s')('a client that does not read its answer for good is ended, and the destination with it', async () => {
    const scene = await openScene(gateway.current, {
      onRequest(socket) {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${64 << 20}\r\n\r\n`);
        socket.write(Buffer.alloc(64 << 20, 'x'));
      },
    });
    const client = openClient(gateway.current.url);
    client.socket.pause();
    client.write(`${post(scene.keys, 2)}{}`);
    await eventually('a call', () => scene.destination.sockets.length === 1);
    await eventually('its end', () => scene.destination.sockets.every(({ destroyed }) => destroyed));
    client.socket.resume();
    await client.ended;
    expect(client.isReset()).toBe(true);
    expect(client.text().length).toBeLessThan(64 << 20);
  });

  test('one that reads slowly gets all of it', async () => {
    const sizeBytes = 12 << 20;
    const scene = await openScene(gateway.current, {
      onRequest(socket) {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${sizeBytes}\r\n\r\n`);
        socket.write(Buffer.alloc(sizeBytes, 'x'));
      },
    });
    const client = openClient(gateway.current.url);
    client.write(`${post(scene.keys, 2)}{}`);
    while (!client.hasEnded()) {
      client.socket.pause();
      await wait(idleMs / 3);
      client.socket.resume();
      await wait(10);
    }
    expect(readMessages(await client.ended).messages[0]?.body.length).toBe(sizeBytes);
  });
});

slow('1.1 s')('a client whose body the destination does not take is not idle', async () => {
  const scene = await openScene(gateway.current, { onBytes: (socket) => void socket.pause() });
  const client = openClient(gateway.current.url);
  const sizeBytes = 64 << 20;
  client.write(
    `POST /proxy HTTP/1.1\r\nHost: x\r\n${scene.keys}${contentTypeOf('streamed')}Content-Length: ${sizeBytes}\r\n\r\n`,
  );
  client.socket.write(Buffer.alloc(sizeBytes, 'x'));
  await wait(2.5 * idleMs);
  expect([client.hasEnded(), client.text()]).toEqual([false, '']);
  client.socket.destroy();
  await eventually('the end', () => {
    for (const socket of scene.destination.sockets) socket.resume();
    return scene.destination.sockets.every(({ destroyed }) => destroyed);
  });
});
