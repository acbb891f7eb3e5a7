import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '@sluice/testing';
import { createOrderedServer, listen } from '../index.ts';

const served: string[] = [];
const stack = new AsyncDisposableStack();
beforeEach(() => served.splice(0));
afterAll(() => stack.disposeAsync());

async function echo(request: IncomingMessage, response: ServerResponse) {
  const { method, url } = request;
  served.push(`${method} ${url}`);
  await text(request);
  if (url === '/slow') await wait(100);
  response.end(`at ${url};`);
}

const ordered = () => {
  const refuse = (_error: Error, socket: { end(text: string): void }) =>
    void socket.end('HTTP/1.1 400 Bad request\r\nConnection: close\r\n\r\n');
  return createOrderedServer(echo, { refuse, refuseConnect: (socket) => void socket.destroy() }).server;
};

/** Each piece is read by itself. Waits for the end of the connection, or for so many answers where it is left open. */
async function talk(server: Server, pieces: string[], leftOpenAfter?: number) {
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const socket = connect(await listen(server, { host: '127.0.0.1', port: 0, stack }), '127.0.0.1');
  const closed = once(socket, 'close');
  let got = '';
  const answers = () => [...got.matchAll(/at (\S+);| (400) /g)].map(([, path, status]) => path ?? status);
  socket.on('data', (chunk) => {
    got += chunk;
  });
  socket.on('error', () => undefined);
  const [peer] = await accepted;
  let sent = 0;
  for (const piece of pieces) {
    socket.write(piece);
    sent += piece.length;
    await eventually('a piece is read', () => peer.destroyed || peer.bytesRead >= sent);
  }
  if (leftOpenAfter === undefined) await closed;
  else await eventually('the answers', () => answers().length >= leftOpenAfter);
  await wait(30);
  const hasEnded = socket.destroyed;
  socket.destroy();
  return { answers: answers(), hasEnded };
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: h\r\n${more}\r\n`;
const post = (path: string, body: string, more = '') =>
  `POST ${path} HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n${more}\r\n`;
const offer = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';
const evil = get('/evil');

const rows: [name: string, pieces: string[], answers: string[]][] = [
  ['a request', [get('/x', offer) + get('/y'), get('/z')], ['/x']],
  ['the head of a request whose body comes later', [get('/x', offer) + post('/y', evil), evil], ['/x']],
  ['a request, while the answer is awaited', [get('/slow', offer) + post('/y', evil), evil], ['/slow']],
  ['a request, behind a body', [`${post('/x', 'body', offer)}body${post('/y', evil)}`, evil], ['/x']],
  ['a request, behind the last piece of a body', [post('/x', 'body', offer), `body${post('/y', evil)}`, evil], ['/x']],
  ['a request, where an answer before is owed', [get('/slow') + get('/x', offer) + get('/y'), evil], ['/slow', '/x']],
  ['what is no request', [`${get('/slow', offer)}nonsense\r\n\r\n`, 'more\r\n\r\n'], ['/slow']],
];

test.each(rows)(
  'an offer with %s behind it: what is owed is answered, and nothing else',
  async (_, pieces, answers) => {
    expect(await talk(ordered(), pieces)).toEqual({ answers, hasEnded: true });
    expect(served.map((line) => line.split(' ')[1])).toEqual(answers);
  },
);

test("Node's own server answers the body of a request whose head it lost as a request", async () => {
  const { answers } = await talk(createServer(echo), [get('/x', offer) + post('/y', evil), evil], 2);
  expect(answers).toEqual(['/x', '/evil']);
});

test('without an offer the same bytes are two requests', async () => {
  const { answers } = await talk(ordered(), [get('/x') + post('/y', evil), evil], 2);
  expect(answers).toEqual(['/x', '/y']);
});

test('offers alone leave the connection open for the next request', async () => {
  const pieces = [get('/1', offer), post('/2', 'body', offer), 'body', `${post('/3', 'body', offer)}body`, get('/4')];
  expect(await talk(ordered(), pieces, 4)).toEqual({ answers: ['/1', '/2', '/3', '/4'], hasEnded: false });
});
