import { setTimeout as wait } from 'node:timers/promises';
import { eventually, useStack } from '@sluice/testing';
import { okAnswer, openClient, readMessages, valuesOf } from '@sluice/testing/raw';
import { closeScenes, contentTypeOf, openScene, ways } from '../testing/scene.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => startTestGateway(stack));
afterEach(closeScenes);

async function startStoppable() {
  const stack = new AsyncDisposableStack();
  const drain = new AbortController();
  const { url } = await gateway.current.startAnother({}, { stack, draining: drain.signal });
  return { url, drain: () => drain.abort(), close: () => stack.disposeAsync() };
}

const connectionsOf = (text: string) =>
  readMessages(text).messages.map(({ start, body, lines }) => [
    start.split(' ')[1],
    body.slice(0, 12),
    valuesOf(lines, 'Connection').join(),
  ]);

describe.each(ways)('%s', (way) => {
  const post = (path: string, keys: string, more = '') =>
    `POST /proxy/${path} HTTP/1.1\r\nHost: x\r\n${keys}${contentTypeOf(way)}${more}Content-Length: 5\r\n\r\nhello`;

  test('pipelined invocations are all made and answered in order, the last answer ends the connection', async () => {
    const stoppable = await startStoppable();
    const scene = await openScene(gateway.current, {
      onRequest: (socket, { start }) => void setTimeout(() => socket.write(okAnswer(start.split(' ')[1] ?? '')), 100),
    });
    const client = openClient(stoppable.url);
    client.write(post('1', scene.keys));
    await eventually('the first answer', () => client.text().endsWith('/1'));
    client.write(post('2', scene.keys) + post('3', scene.keys));
    await eventually('the second call', () => scene.destination.seen().length > 1);
    stoppable.drain();
    client.write(post('4', scene.keys));
    expect(connectionsOf(await client.ended)).toEqual([
      ['200', '/1', 'keep-alive'],
      ['200', '/2', 'keep-alive'],
      ['200', '/3', 'keep-alive'],
      ['200', '/4', 'close'],
    ]);
    expect(client.isReset()).toBe(false);
    expect(scene.destination.seen()).toHaveLength(4);
    await stoppable.close();
  });

  test('a new connection is served; 100 Continue, refusals and heads that cannot be read are as ever', async () => {
    const stoppable = await startStoppable();
    const scene = await openScene(gateway.current);
    stoppable.drain();
    const outcomes: unknown[] = [];
    for (const bytes of [
      post('a', scene.keys),
      post('b', scene.keys, 'Expect: 100-continue\r\n'),
      post('c', ''),
      post('d', scene.keys, 'Expect: nonsense\r\n'),
      'GET /proxy HTTP/1.1\r\nHost : x\r\n\r\n',
    ]) {
      const client = openClient(stoppable.url);
      client.write(bytes);
      const text = await client.ended;
      outcomes.push(...connectionsOf(text.replace('HTTP/1.1 100 Continue\r\n\r\n', '')));
    }
    expect(outcomes).toEqual([
      ['200', '/a', 'close'],
      ['200', '/b', 'close'],
      ['400', '{"proxy_erro', 'close'],
      ['417', '{"proxy_erro', 'close'],
      ['400', '{"proxy_erro', 'close'],
    ]);
    await stoppable.close();
  });

  test('an answer that streams for longer than the draining is finished, and then the gateway ends', async () => {
    const stoppable = await startStoppable();
    const scene = await openScene(gateway.current, {
      async onRequest(socket) {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n');
        for (let count = 0; count < 10; count++) {
          await wait(100);
          socket.write('x');
        }
      },
    });
    const client = openClient(stoppable.url);
    client.write(post('1', scene.keys));
    await eventually('the first byte', () => client.text().endsWith('x'));
    stoppable.drain();
    await wait(200);
    await stoppable.close();
    const [answer] = readMessages(client.text()).messages;
    expect(answer?.body).toBe('x'.repeat(10));
    expect(client.isReset()).toBe(false);
  });
});
