import { randomBytes } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { bodyBytesFrom, type Reservation } from '@sluice/body-bytes';
import { type Reading, readBody, readOrStreamBody } from './read-body.ts';

/** A request whose body comes in chunks, one when the one before was read. */
function requestOf(chunks: AsyncIterable<string>): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.headers['transfer-encoding'] = 'chunked';
  request._read = () => {};
  void (async () => {
    for await (const chunk of chunks) request.push(chunk);
    request.push(null);
  })();
  return request;
}

const config = { BODY_HELD_BYTES: 2 ** 30, BODY_HELD_TENANT_BYTES: 2 ** 29, BODY_WAIT_MS: 60_000 };
const bodyBytes = bodyBytesFrom(config, { part: 0.4, requestPart: 0.75 });

function readingOf({ memory = bodyBytes.open({ tenantId: 'a' }), timeoutMs = 60_000 }: Partial<Reading>): Reading {
  return { memory, arriving: { copies: 2, mostLength: 400_000 }, decode: undefined, timeoutMs };
}

function roomOnce(grow: () => Promise<void>): Reservation {
  const part = { bytes: 0, grow, growTo: grow, shrinkTo: () => {}, release: () => {} };
  return { part: () => part, release: () => {} };
}
const roomAfter = (waitMs: number) => roomOnce(() => wait(waitMs));

async function* chunksEvery(pauseMs: number, count: number) {
  for (let sent = 0; sent < count; sent += 1) {
    await wait(pauseMs);
    yield 'x';
  }
}

test('waits for memory do not count, but give a slow sender no more time either', async () => {
  const request = requestOf(chunksEvery(20, 200));
  const reading = readBody(request, 1000, readingOf({ memory: roomAfter(1), timeoutMs: 500 }));
  await expect(reading).rejects.toMatchObject({ code: 'request_timeout' });
});

test('a body that came in time is read, however long it waited for memory', async () => {
  const request = requestOf(chunksEvery(0, 2));
  const reading = readBody(request, 1000, readingOf({ memory: roomAfter(1_500), timeoutMs: 2_000 }));
  expect((await reading).toString()).toBe('xx');
});

test('a caller who leaves while its body waits for memory is not waited for again', async () => {
  const timers = jest.spyOn(globalThis, 'setTimeout');
  const room = Promise.withResolvers<void>();
  const request = requestOf(chunksEvery(0, 1));
  const memory = roomOnce(() => room.promise);
  const reading = readBody(request, 1000, readingOf({ memory, timeoutMs: 3_600_000 }));
  request.once('pause', () => request.destroy());
  await expect(reading).rejects.toMatchObject({ code: 'bad_request' });
  room.resolve();
  await room.promise;
  expect(timers.mock.calls.filter(([, delayMs]) => Number(delayMs) > 3_000_000)).toHaveLength(1);
  timers.mockRestore();
});

const noise = randomBytes(300_000).toString('hex');

test.each([
  ['is found too large', 'chunked', Buffer.from(noise)],
  ['is too large once it is decoded', 'gzip', gzipSync(noise)],
])('what has come of a body that %s is counted until it is read again', async (_, coding, sent) => {
  const request = new IncomingMessage(new Socket());
  request.headers['transfer-encoding'] = 'chunked';
  if (coding === 'gzip') request.headers['content-encoding'] = coding;
  request._read = () => {};
  for (let at = 0; at < sent.length; at += 50_000) request.push(sent.subarray(at, at + 50_000));
  request.push(null);
  const memory = bodyBytes.open({ tenantId: 'a' });
  const part = memory.part('request');
  const body = await readOrStreamBody(request, 400_000, readingOf({ memory }));
  expect(part.bytes).toBeGreaterThan(300_000);
  // Piped as to a destination: what is decoded flows only from then on.
  expect((await buffer((body as Readable).pipe(new PassThrough()))).toString()).toBe(noise);
  expect(part.bytes).toBe(0);
  memory.release();
});
