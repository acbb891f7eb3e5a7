import { eventually, slow, useStack } from '@sluice/testing';
import { openClient, readMessages, talk } from '@sluice/testing/raw';
import { closeScenes, openScene, statusesIn } from '../testing/scene.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

// As by default, a destination has less time to its head than a client between two pieces of a body
const headMs = 500;
const idleMs = 4000;
const gateway = useStack((stack) =>
  startTestGateway(stack, {
    DESTINATION_HEAD_TIMEOUT_MS: `${headMs}`,
    CLIENT_IDLE_TIMEOUT_MS: `${idleMs}`,
    BODY_LIMIT_BYTES: '1024',
  }),
);
afterEach(closeScenes);

const post = (keys: string, type: string, length: number) =>
  `POST /proxy HTTP/1.1\r\nHost: x\r\n${keys}Content-Type: ${type}\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`;
const part = 'x'.repeat(1500);

describe.each([
  ['passed on as it is', 'image/png'],
  ['searched for expressions while it streams', 'text/plain'],
])('an upload that is %s', (_, type) => {
  test.each([
    ['before its first byte', ['', part + part]],
    ['in the middle', [part, part]],
  ])('may pause %s for longer than a destination may take to its head', async (_where, [first = '', rest = '']) => {
    const scene = await openScene(gateway.current);
    const pieces = [post(scene.keys, type, 2 * part.length) + first, rest];
    const { text } = await talk(gateway.current.url, pieces, { pauseMs: 4 * headMs });
    expect(statusesIn(text)).toEqual([200]);
    expect(scene.destination.seen().map(({ body }) => body)).toEqual([part + part]);
  });

  test('is 408 once its client has sent nothing for too long, and its call is given up', async () => {
    const scene = await openScene(gateway.current);
    const client = openClient(gateway.current.url);
    const startedAt = performance.now();
    client.write(post(scene.keys, type, 2 * part.length) + part);
    const { messages, rest } = readMessages(await client.ended);
    expect([messages.map(({ start }) => start), rest]).toEqual([['HTTP/1.1 408 Request timeout'], '']);
    expect(performance.now() - startedAt).toBeGreaterThan(0.9 * idleMs);
    await eventually('the end', () => scene.destination.sockets.every(({ destroyed }) => destroyed));
  });

  test('is 504 once all of it was sent and the destination is silent', async () => {
    const scene = await openScene(gateway.current, { onRequest: () => {} });
    const pieces = [post(scene.keys, type, 2 * part.length) + part, part];
    const { text } = await talk(gateway.current.url, pieces, { pauseMs: 2 * headMs });
    expect(statusesIn(text)).toEqual([504]);
  });
});

slow('1 s')('a destination that does not take the upload is late, whatever its client does', async () => {
  const scene = await openScene(gateway.current, { onBytes: (socket) => void socket.pause() });
  const client = openClient(gateway.current.url);
  const sizeBytes = 64 << 20;
  client.write(post(scene.keys, 'image/png', sizeBytes));
  client.socket.write(Buffer.alloc(sizeBytes, 'x'));
  await eventually('the answer', () => statusesIn(client.text()).length > 0);
  expect(statusesIn(client.text())).toEqual([504]);
  client.socket.destroy();
});
