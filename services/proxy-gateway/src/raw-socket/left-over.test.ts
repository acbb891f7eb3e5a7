import { eventually, useStack } from '@sluice/testing';
import { okAnswer, openClient, readMessages, valuesOf } from '@sluice/testing/raw';
import { closeScenes, contentTypeOf, openScene, ways } from '../testing/scene.ts';
import { shareTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => shareTestGateway(stack));
afterEach(closeScenes);

const forged = okAnswer('forged');
const ok = okAnswer('ok');

const rows: [name: string, method: string, status: number, answer: string, more: string][] = [
  ['a second answer', 'POST', 200, ok, forged],
  ['a second answer', 'GET', 200, ok, forged],
  ['bytes', 'POST', 200, ok, 'more'],
  ['a line end', 'POST', 200, ok, '\r\n'],
  ['an interim answer', 'POST', 200, ok, 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ['a 408', 'POST', 200, ok, 'HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'],
  ['a body after a length of 0', 'POST', 200, 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', forged],
  ['a body that is too long', 'POST', 200, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'ok'],
  [
    'a second answer after chunks',
    'POST',
    200,
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    forged,
  ],
  ['a body for HEAD', 'HEAD', 200, 'HTTP/1.1 200 OK\r\nContent-Length: 45\r\n\r\n', forged],
  [
    'a chunked body for HEAD',
    'HEAD',
    200,
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    `2d\r\n${forged}\r\n0\r\n\r\n`,
  ],
  ['a body after 204', 'POST', 204, 'HTTP/1.1 204 No Content\r\nContent-Length: 45\r\n\r\n', forged],
  ['a body after 204 without framing', 'POST', 204, 'HTTP/1.1 204 No Content\r\n\r\n', forged],
  [
    'a chunked body after 204',
    'POST',
    204,
    'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n',
    `2d\r\n${forged}\r\n0\r\n\r\n`,
  ],
  ['a body after 304', 'GET', 304, 'HTTP/1.1 304 Not Modified\r\nContent-Length: 45\r\n\r\n', forged],
  [
    'a chunked body after 304',
    'GET',
    304,
    'HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n',
    `2d\r\n${forged}\r\n0\r\n\r\n`,
  ],
  ['nothing after 204 with a length', 'POST', 204, 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n', ''],
  ['nothing after 304 with a length', 'GET', 304, 'HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n', ''],
  ['nothing after HEAD with a length', 'HEAD', 200, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n', ''],
];

describe.each(ways)('%s', (way) => {
  describe.each([
    ['at once', 0],
    ['while the connection is idle', 30],
  ])('%s', (_, laterMs) => {
    test.each(rows)('%s (%s, %i) reaches nobody', async (__, method, status, answer, more) => {
      let answers = 0;
      const scene = await openScene(gateway.current, {
        onRequest(socket) {
          if (answers++ > 0) socket.write(okAnswer('second'));
          else if (laterMs === 0) socket.write(answer + more);
          else socket.write(answer, () => setTimeout(() => socket.write(more), laterMs));
        },
      });
      const body = method === 'POST' ? `${contentTypeOf(way)}Content-Length: 5\r\n\r\nhello` : '\r\n';
      // A Connection header of its own makes a request without a body take the streamed way too
      const chosen = way === 'streamed' ? 'SVC-PROXY-CONNECTION: keep-alive\r\n' : '';
      const first = `${method} /proxy HTTP/1.1\r\nHost: x\r\n${scene.keys}${chosen}${body}`;
      const second = `GET /proxy HTTP/1.1\r\nHost: x\r\n${scene.keys}${chosen}Connection: close\r\n\r\n`;
      const client = openClient(gateway.current.url);
      client.write(first);
      await eventually('the first answer', () => client.text().includes('\r\n\r\n'));
      if (laterMs > 0 && more) {
        await eventually(
          'the connection with more on it is given up',
          () => scene.destination.sockets[0]?.destroyed === true,
        );
      }
      client.write(second);
      const text = await client.ended;

      const { messages, rest } = readMessages(text, { heads: method === 'HEAD' ? [0] : [] });
      expect(messages.map(({ start }) => Number(start.split(' ')[1]))).toEqual([status, 200]);
      expect(messages[1]?.body).toBe('second');
      expect(rest).toBe('');
      if (status === 204) expect(valuesOf(messages[0]?.lines ?? [], 'Content-Length')).toEqual([]);
      expect(text).not.toContain('forged');
    });
  });
});
