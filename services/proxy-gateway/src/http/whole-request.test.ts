import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { WholeRequest } from './whole-request.ts';

type Handle = (request: WholeRequest) => Promise<unknown>;

/** Sends over one connection; each part follows once the server has read the one before, and `handle` has begun. */
async function send(parts: readonly string[], handle: Handle): Promise<unknown[]> {
  const results: unknown[] = [];
  const server = createServer({ IncomingMessage: WholeRequest }, (request: IncomingMessage, response) => {
    setImmediate(() =>
      handle(request as WholeRequest).then((result) => {
        results.push(result);
        response.end('done');
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').resume();
  const answers = parts.filter((part) => part.startsWith('POST')).length;
  const [connection] = await connected;
  let sentBytes = 0;
  for (const part of parts) {
    socket.write(part);
    sentBytes += part.length;
    while (connection.bytesRead < sentBytes) await nextTurn();
    await nextTurn();
    await nextTurn();
  }
  while (results.length < answers) await nextTurn();
  socket.destroy();
  server.close();
  return results;
}

const head = 'POST / HTTP/1.1\r\nHost: x\r\n';
const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;

test.each([
  ['with its length', [`${head}Content-Length: 5\r\n\r\nhello`]],
  ['as one chunk', [`${chunked}5\r\nhello\r\n0\r\n\r\n`]],
])('a body is had whole: %s', async (_, parts) => {
  const take: Handle = async (request) => [String(request.takeWhole(5)), request.destroyed, request.readableEnded];
  expect(await send([...parts, ...parts], take)).toEqual([
    ['hello', true, true],
    ['hello', true, true],
  ]);
});

test.each([
  ['one chunk', [`${head}Content-Length: 5\r\n\r\nhello`]],
  ['two chunks', [`${chunked}2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n`]],
  ['a chunk and a later one', [`${chunked}2\r\nhe\r\n`, '3\r\nllo\r\n0\r\n\r\n']],
  ['a head and a later body', [`${head}Content-Length: 5\r\n\r\n`, 'hello']],
])('as a stream it brings the same: %s', async (_, parts) => {
  expect(await send([...parts, ...parts], (request) => text(request))).toEqual(['hello', 'hello']);
});

test('what is too large, has been read, or is not all there is not had whole, and stays a stream', async () => {
  const small: Handle = async (request) => [request.takeWhole(4), await text(request)];
  expect(await send([`${head}Content-Length: 5\r\n\r\nhello`], small)).toEqual([[undefined, 'hello']]);
  const late: Handle = async (request) => [await text(request), request.takeWhole(5)];
  expect(await send([`${head}Content-Length: 5\r\n\r\nhello`], late)).toEqual([['hello', undefined]]);
  const early: Handle = async (request) => [request.takeWhole(5), await text(request)];
  expect(await send([`${head}Content-Length: 5\r\n\r\nhe`, 'llo'], early)).toEqual([[undefined, 'hello']]);
});

test.each([
  ['one chunk', [`${head}Content-Length: 5\r\n\r\nhello`]],
  ['two chunks', [`${chunked}2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n`]],
  ['no body', [`${head}\r\n`]],
])('a body that nobody reads does not stand in the way of the next request: %s', async (_, parts) => {
  const seen: WholeRequest[] = [];
  const leave: Handle = async (request) => void seen.push(request);
  expect(await send([...parts, ...parts], leave)).toEqual([undefined, undefined]);
  expect(seen[0]?.readableEnded).toBe(true);
});
