import { setTimeout as wait } from 'node:timers/promises';
import { eventually, slow, useStack } from '@sluice/testing';
import { openClient, readMessages, talk } from '@sluice/testing/raw';
import { closeScenes, contentTypeOf, openScene, statusesIn, ways } from '../testing/scene.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const headMs = 1500;
const gateway = useStack((stack) =>
  startTestGateway(stack, {
    CLIENT_HEAD_TIMEOUT_MS: `${headMs}`,
    DESTINATION_HEAD_TIMEOUT_MS: '600',
    DESTINATION_CONNECT_TIMEOUT_MS: '600',
  }),
);
afterEach(closeScenes);

async function drip(everyMs: number, write: () => boolean): Promise<void> {
  while (write()) await wait(everyMs);
}

test('heads that do not come to their end are 408 when their time is up, and silence is no exception', async () => {
  const { keys } = await openScene(gateway.current);
  const starts = ['', 'G', 'GET /proxy HTTP/1.1\r\n', `GET /proxy HTTP/1.1\r\nHost: x\r\n${keys}X: `];
  const outcomes = await Promise.all(
    starts.map(async (start) => {
      const client = openClient(gateway.current.url);
      if (start !== '') client.write(start);
      const startedAt = performance.now();
      if (start.endsWith('X: ')) void drip(200, () => !client.socket.destroyed && client.socket.write('y'));
      const text = await client.ended;
      return { text, tookMs: performance.now() - startedAt };
    }),
  );
  for (const { text, tookMs } of outcomes) {
    expect(readMessages(text).messages.map(({ start }) => start)).toEqual(['HTTP/1.1 408 Request timeout']);
    expect(JSON.parse(readMessages(text).messages[0]?.body ?? '')).toMatchObject({ proxy_error: { status: 408 } });
    expect(tookMs).toBeGreaterThan(headMs * 0.9);
  }
});

describe.each(ways)('%s', (way) => {
  const post = (keys: string, body = 'hello') =>
    `POST /proxy HTTP/1.1\r\nHost: x\r\n${keys}${contentTypeOf(way)}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  test.each([
    ['is silent', ''],
    ['drips its status line', 'HTTP/1.1 200 OK and so on'.repeat(20)],
    ['drips headers', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(200)}`],
    ['sends interim answers without end', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(200)],
  ])('a destination that %s is 504 in time, and its connection is closed', async (_, text) => {
    const scene = await openScene(gateway.current, {
      onRequest(socket) {
        let sent = 0;
        void drip(20, () => {
          if (sent < text.length) socket.write(text.slice(sent, sent + 20));
          sent += 20;
          return !socket.destroyed;
        });
      },
    });
    const { text: answer } = await talk(gateway.current.url, post(scene.keys));
    expect(statusesIn(answer)).toEqual([504]);
    expect(readMessages(answer).rest).toBe('');
    await eventually('the end', () => scene.destination.sockets.every(({ destroyed }) => destroyed));
  });

  test.each([
    ['one header', 'x'.repeat(1 << 16)],
    ['many headers', 'X-Some-Header: y\r\n'.repeat(4096)],
    ['interim answers', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(2000)],
  ])('a head of 100 MB (%s) is not taken in', async (kind, piece) => {
    let sentBytes = 0;
    const scene = await openScene(gateway.current, {
      onRequest(socket) {
        if (kind !== 'interim answers') socket.write('HTTP/1.1 200 OK\r\nX: ');
        const more = () => {
          while (!socket.destroyed && sentBytes < 100 << 20) {
            sentBytes += piece.length;
            if (!socket.write(piece)) return void socket.once('drain', more);
          }
        };
        more();
      },
    });
    const before = process.memoryUsage().rss;
    const { text } = await talk(gateway.current.url, post(scene.keys), { withinMs: 15_000 });
    expect([502, 504]).toContain(statusesIn(text)[0]);
    if (kind !== 'interim answers') expect(sentBytes).toBeLessThan(16 << 20);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 << 20);
    await eventually('the end', () => scene.destination.sockets.every(({ destroyed }) => destroyed));
  });

  slow('1.3 s')(
    'a client that does not read holds the destination back, and gets all of it when it reads',
    async () => {
      const sizeBytes = 48 << 20;
      const piece = 'x'.repeat(1 << 16);
      let takenBytes = 0;
      const scene = await openScene(gateway.current, {
        onRequest(socket) {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${sizeBytes}\r\n\r\n`);
          const more = () => {
            while (takenBytes < sizeBytes) {
              takenBytes += piece.length;
              if (!socket.write(piece)) return void socket.once('drain', more);
            }
          };
          more();
        },
      });
      const client = openClient(gateway.current.url);
      client.socket.pause();
      client.write(post(scene.keys));
      let before = -1;
      await eventually('a standstill', async () => {
        const stands = takenBytes > 0 && takenBytes === before;
        before = takenBytes;
        await wait(100);
        return stands;
      });
      expect(takenBytes).toBeLessThan(sizeBytes / 2);
      client.socket.resume();
      const { messages } = readMessages(await client.ended);
      expect(messages[0]?.body.length).toBe(sizeBytes);
    },
  );

  slow('0.5 s')('a client that drips its body is served, and the answer is whole', async () => {
    const scene = await openScene(gateway.current);
    const request = post(scene.keys, 'x'.repeat(30));
    const pieces = [request.slice(0, -30), ...Array.from({ length: 30 }, () => 'x')];
    const { text } = await talk(gateway.current.url, pieces, { pauseMs: 30 });
    expect(statusesIn(text)).toEqual([200]);
    expect(scene.destination.seen().map(({ body }) => body.length)).toEqual([30]);
  });
});

slow('0.9 s')('a destination that does not read holds a streaming client back', async () => {
  const scene = await openScene(gateway.current, { onBytes: (socket) => void socket.pause() });
  const client = openClient(gateway.current.url);
  const sizeBytes = 64 << 20;
  client.write(
    `POST /proxy HTTP/1.1\r\nHost: x\r\n${scene.keys}${contentTypeOf('streamed')}Content-Length: ${sizeBytes}\r\n\r\n`,
  );
  client.socket.write(Buffer.alloc(sizeBytes, 'x'));
  await wait(400);
  expect(client.socket.writableLength).toBeGreaterThan(sizeBytes / 4);
  client.socket.destroy();
  await eventually('the end', () => {
    for (const socket of scene.destination.sockets) socket.resume();
    return scene.destination.sockets.every(({ destroyed }) => destroyed);
  });
});
