import { setTimeout as wait } from 'node:timers/promises';
import { eventually, useStack } from '@sluice/testing';
import { openClient, readMessages } from '@sluice/testing/raw';
import { closeScenes, contentTypeOf, openScene, ways } from '../testing/scene.ts';
import { shareTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => shareTestGateway(stack));
afterEach(closeScenes);

describe.each(ways)('Expect: 100-continue, %s', (way) => {
  test('the client is told to go on, and the destination hears nothing of it', async () => {
    const { destination, keys } = await openScene(gateway.current);
    const client = openClient(gateway.current.url);
    client.write(
      `POST /proxy/x HTTP/1.1\r\nHost: x\r\n${keys}${contentTypeOf(way)}Expect: 100-Continue\r\nContent-Length: 5\r\nConnection: close\r\n\r\n`,
    );
    await eventually('the permission', () => client.text() === 'HTTP/1.1 100 Continue\r\n\r\n');
    client.write('hello');
    const { messages, rest } = readMessages(await client.ended);
    expect(messages.map(({ start }) => start)).toEqual(['HTTP/1.1 100 Continue', 'HTTP/1.1 200 OK']);
    expect(rest).toBe('');
    expect(destination.seen().map(({ start, body }) => [start, body])).toEqual([['POST /x HTTP/1.1', 'hello']]);
    expect(destination.texts.join('').toLowerCase()).not.toContain('expect');
  });

  test('a client that does not wait for it is served the same', async () => {
    const { destination, keys } = await openScene(gateway.current);
    const client = openClient(gateway.current.url);
    client.write(
      `POST /proxy/x HTTP/1.1\r\nHost: x\r\n${keys}${contentTypeOf(way)}Expect: 100-continue\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    );
    expect(readMessages(await client.ended).messages.map(({ start }) => start)).toContain('HTTP/1.1 200 OK');
    expect(destination.seen().map(({ body }) => body)).toEqual(['hello']);
  });

  test('a client that is refused and never sends its body ends without one at the destination', async () => {
    const { destination } = await openScene(gateway.current);
    const client = openClient(gateway.current.url);
    client.write(
      `POST /proxy HTTP/1.1\r\nHost: x\r\n${contentTypeOf(way)}Expect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
    );
    const { messages } = readMessages(await client.ended);
    expect(messages.at(-1)?.start).toBe('HTTP/1.1 400 Bad Request');
    await wait(20);
    expect(destination.texts).toEqual([]);
  });
});
