import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { slow } from '@sluice/testing';
import fc from 'fast-check';
import { GatheredRequest } from './gathered-request.ts';

/** Sends texts as chunks of one body, each group in one write. @returns how the body came, and in how many pieces. */
async function receive(
  Message: typeof IncomingMessage,
  groups: readonly (readonly string[])[],
  read: (request: IncomingMessage, pieces: string[]) => Promise<void> = readAll,
): Promise<{ body: string; pieces: number; isWhole: boolean }> {
  const came: string[] = [];
  const ended = Promise.withResolvers<boolean>();
  const server = createServer({ IncomingMessage: Message }, (request, response) => {
    read(request, came).then(() => {
      ended.resolve(request.complete);
      response.end();
    }, ended.reject);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').resume();
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n');
  for (const group of groups)
    await write(
      socket,
      group.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`),
    );
  socket.write('0\r\n\r\n');
  const isWhole = await ended.promise;
  await once(socket, 'close');
  server.close();
  return { body: came.join(''), pieces: came.length, isWhole };
}

async function write(socket: Socket, chunks: readonly string[]): Promise<void> {
  await new Promise((resolve) => socket.write(chunks.join(''), resolve));
}

async function readAll(request: IncomingMessage, pieces: string[]): Promise<void> {
  for await (const piece of request) pieces.push(piece.toString('latin1'));
}

async function readLate(request: IncomingMessage, pieces: string[]): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  await readAll(request, pieces);
}

const bytes = (count: number) => Array.from({ length: count }, (_, at) => String.fromCharCode(97 + (at % 26)));

test.each([
  ['read at once', readAll],
  ['read late', readLate],
])('a body comes as it was sent, however it is cut: %s', async (_, read) => {
  const chunk = fc.oneof(
    fc.string({ minLength: 1, maxLength: 5, unit: 'grapheme-ascii' }),
    fc.integer({ min: 1000, max: 1050 }).map((length) => 'x'.repeat(length)),
    fc.constant('y'.repeat(70_000)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(chunk, { minLength: 1, maxLength: 40 }), { maxLength: 4 }), async (groups) => {
      const { body, isWhole } = await receive(GatheredRequest, groups, read);
      expect(body === groups.flat().join('') && isWhole).toBe(true);
    }),
    { numRuns: 40 },
  );
});

slow('1 s')(
  'a hundred thousand chunks of one byte come in few pieces, and not one by one as Node passes them on',
  async () => {
    const sent = bytes(100_000);
    const gathered = await receive(GatheredRequest, [sent]);
    expect(gathered.body).toBe(sent.join(''));
    expect(gathered.pieces).toBeLessThan(300);
    expect((await receive(IncomingMessage, [sent])).pieces).toBe(sent.length);
  },
);

test('a chunk that comes alone is passed on without the next one', async () => {
  const seen: string[] = [];
  const first = Promise.withResolvers<void>();
  const server = createServer({ IncomingMessage: GatheredRequest }, (request) => {
    request.on('data', (piece) => {
      seen.push(String(piece));
      first.resolve();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n');
  await first.promise;
  expect(seen).toEqual(['a']);
  socket.write('1\r\nb\r\n1\r\nc\r\n');
  while (seen.join('') !== 'abc') await new Promise((resolve) => setImmediate(resolve));
  socket.destroy();
  server.close();
});
