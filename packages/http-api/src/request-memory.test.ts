import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { apiPart, type BodyBytes, bodyBytesFrom } from '@sluice/body-bytes';
import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import { listen } from '@sluice/service-runtime';
import { eventually, useStack } from '@sluice/testing';
import pino from 'pino';
import { createHttpServer, expressApi, operationsOf, singleHeader } from './index.ts';

const mebibyte = 1024 * 1024;

/** More than the buffers of a connection on loopback take. */
const large = 12 * mebibyte;

const tenantLimit = 16 * mebibyte;

/** Each Tenant, named by the key of a request, may hold a quarter of it for requests. */
async function startApi(
  stack: AsyncDisposableStack,
  { waitMs = 60_000, idleReaderMs = 60_000, tenantBytes = tenantLimit } = {},
) {
  const bodyBytes = bodyBytesFrom(
    { BODY_HELD_BYTES: 4 * tenantBytes, BODY_HELD_TENANT_BYTES: tenantBytes, BODY_WAIT_MS: waitMs },
    apiPart,
  );
  const operation = operationsOf<object>();
  const shared = { tag: 'T', summary: 'S', response: { 200: {} } } as const;
  const answer = (size: string) => ({ answer: 'x'.repeat(Number(size)) });
  const operations = [
    operation({
      ...shared,
      id: 'read',
      method: 'get',
      path: '/read/:size',
      params: { type: 'object', properties: { size: { type: 'string' } } } as const,
      async handle({ params: { size = '0' }, hold }) {
        await hold(Number(size));
        return answer(size);
      },
    }),
    operation({
      ...shared,
      id: 'readUnreserved',
      method: 'get',
      path: '/read-unreserved',
      handle: async () => answer(String(large)),
    }),
    operation({ ...shared, id: 'write', method: 'post', path: '/write', body: {}, handle: async () => ({}) }),
    operation({
      ...shared,
      id: 'fail',
      method: 'post',
      path: '/fail',
      body: {},
      handle: async () => {
        throw new ServiceError('conflict', 'No');
      },
    }),
  ];
  const authenticate = async (request: IncomingMessage): Promise<Caller> => ({
    ...{ id: 'a', tenantId: singleHeader(request, 'SVC-API-KEY') ?? 'a', type: 'private' },
    ...{ permissions: [], rules: [] },
  });
  const log = pino({ level: 'silent' });
  const app = expressApi({ operations, context: {}, authenticate, headerPrefix: 'SVC', log, bodyBytes, idleReaderMs });
  const port = await listen(createHttpServer(app), { host: '127.0.0.1', port: 0, stack });
  const send = (path: string, body?: string, tenant = 'a') => {
    const headers = { 'SVC-API-KEY': tenant, 'Content-Type': 'application/json' };
    return fetch(`http://127.0.0.1:${port}${path}`, { headers, ...(body !== undefined && { method: 'POST', body }) });
  };
  const open = (head: string): Socket => {
    const socket = connect(port, '127.0.0.1');
    socket.write(`${head}\r\nHost: x\r\nSVC-API-KEY: a\r\nContent-Type: application/json\r\n\r\n`);
    return socket;
  };
  return { bodyBytes, send, open };
}

const api = useStack((stack) => startApi(stack));

const isFree = ({ held, waiting }: BodyBytes) => held === 0 && waiting === 0;
const textOf = (size: number) => JSON.stringify('x'.repeat(size));

async function openSlowReader(size = large, { bodyBytes, open } = api.current): Promise<Socket> {
  const socket = open(`GET /read/${size} HTTP/1.1`);
  await eventually('the answer is made', async () => bodyBytes.held >= size);
  return socket;
}

describe('everything is given back once a request is over:', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['a small answer', async () => (await api.current.send('/read/10')).text()],
    ['a large answer, read', async () => (await api.current.send(`/read/${large}`)).text()],
    ['a body', async () => (await api.current.send('/write', textOf(300_000))).text()],
    ['a body that is no JSON', async () => (await api.current.send('/write', 'x'.repeat(300_000))).text()],
    ['a refusal by the handler', async () => (await api.current.send('/fail', textOf(300_000))).text()],
    ['a body that is too large', async () => (await api.current.send('/write', textOf(2 * mebibyte))).text()],
    [
      'a caller that leaves its body unfinished',
      async () => leave('POST /write HTTP/1.1\r\nContent-Length: 500000', true),
    ],
    ['a reader that leaves', async () => (await openSlowReader()).destroy()],
  ])('%s', async (_name, request) => {
    await request();
    await eventually('free', async () => isFree(api.current.bodyBytes));
  });

  async function leave(head: string, holds: boolean) {
    const { bodyBytes, open } = api.current;
    const socket = open(head);
    socket.write('"xxx');
    await eventually('reserved', async () => bodyBytes.held > 0 === holds);
    socket.destroy();
  }
});

describe('beside a reader that takes nothing of a large answer', () => {
  test('another answer of the Tenant waits for it, another Tenant is served', async () => {
    const { bodyBytes, send } = api.current;
    const reader = await openSlowReader();
    const waiting = send(`/read/${large}`);
    await eventually('it waits', async () => bodyBytes.waiting === 1);
    const ofOther = await send(`/read/${large}`, undefined, 'b');
    expect([ofOther.status, (await ofOther.text()).length > large]).toEqual([200, true]);
    expect(bodyBytes.waiting).toBe(1);
    reader.resume();
    expect((await waiting).status).toBe(200);
    await (await waiting).text();
    reader.destroy();
    await eventually('free', async () => isFree(bodyBytes));
  });

  test('what waits too long is 503, and says when to come again', async () => {
    await using stack = new AsyncDisposableStack();
    const impatient = await startApi(stack, { waitMs: 50 });
    const reader = await openSlowReader(large, impatient);
    const refused = await impatient.send(`/read/${large}`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.text()).toContain('no free memory');
    reader.destroy();
    await eventually('free', async () => isFree(impatient.bodyBytes));
  });

  test('a body waits unread, and who leaves meanwhile gives up its place', async () => {
    const { bodyBytes, open } = api.current;
    const reader = await openSlowReader(large - 1000);
    const openBody = () => open(`POST /write HTTP/1.1\r\nContent-Length: ${mebibyte}`);
    const unfinished = [openBody(), openBody()];
    for (const socket of unfinished) socket.write('x'.repeat(mebibyte - 1));
    await eventually('the second waits for the rest of its room', async () => bodyBytes.waiting === 1);
    const socket = openBody();
    await eventually('the third waits', async () => bodyBytes.waiting === 2);
    socket.destroy();
    await eventually('it has given up', async () => bodyBytes.waiting === 1);
    for (const left of [reader, ...unfinished]) left.destroy();
    await eventually('free', async () => isFree(bodyBytes));
  });
});

test('a body of nothing but empty objects is reserved for what it is parsed into', async () => {
  const { bodyBytes, send } = api.current;
  const reader = await openSlowReader();
  const waiting = send('/write', `[${Array(60_000).fill('{}').join()}]`);
  await eventually('it waits', async () => bodyBytes.waiting === 1);
  reader.destroy();
  expect((await waiting).status).toBe(200);
  await eventually('free', async () => isFree(bodyBytes));
});

test('control: a text of the same size is not', async () => {
  const { bodyBytes, send } = api.current;
  const reader = await openSlowReader();
  expect((await send('/write', textOf(180_000))).status).toBe(200);
  reader.destroy();
  await eventually('free', async () => isFree(bodyBytes));
});

test('an answer comes whole', async () => {
  const { open } = api.current;
  const socket = open(`GET /read/${mebibyte} HTTP/1.1\r\nConnection: close`);
  expect((await text(socket)).length).toBeGreaterThan(mebibyte);
});

describe('a reader of a large answer', () => {
  const idleReaderMs = 500;
  const hasty = useStack((stack) => startApi(stack, { idleReaderMs }));
  const roomy = useStack((stack) => startApi(stack, { idleReaderMs, tenantBytes: 4 * tenantLimit }));

  /** So large that no buffer on the way holds what is read in a part of `idleReaderMs`: the service sees each pause. */
  const larger = 4 * large;

  async function readSlowly() {
    const reader = await openSlowReader(larger, roomy.current);
    const begun = performance.now();
    let [size, longestPauseMs, last] = [0, 0, begun];
    for await (const chunk of reader) {
      size += chunk.length;
      longestPauseMs = Math.max(longestPauseMs, performance.now() - last);
      last = performance.now();
      if (size > larger) break;
      await setTimeout((4 * idleReaderMs * chunk.length) / larger);
    }
    return { size, longestPauseMs, durationMs: performance.now() - begun };
  }

  test('that takes nothing is cut off, and another answer of its Tenant gets its memory', async () => {
    const { bodyBytes, send } = hasty.current;
    const reader = await openSlowReader(large, hasty.current);
    const waiting = send(`/read/${large}`);
    await eventually('it waits', async () => bodyBytes.waiting === 1);
    const answer = await waiting; // begins once it has its memory
    expect(answer.status).toBe(200);
    expect((await text(reader)).length).toBeLessThan(large);
    await answer.body?.cancel();
    await eventually('free', async () => isFree(bodyBytes));
  });

  test('that takes nothing is cut off where nothing was reserved for the answer, too', async () => {
    const reader = hasty.current.open('GET /read-unreserved HTTP/1.1');
    await new Promise((resolve) => reader.once('readable', resolve));
    await setTimeout(4 * idleReaderMs);
    expect((await text(reader)).length).toBeLessThan(large);
  });

  test('that takes some of it all the time gets the whole, however long that takes', async () => {
    let read = await readSlowly();
    // A busy machine can keep a reader from taking anything for so long, which then is no fault of the service.
    while (read.longestPauseMs > idleReaderMs / 2) read = await readSlowly();
    expect(read.size).toBeGreaterThan(larger);
    expect(read.durationMs).toBeGreaterThan(3 * idleReaderMs);
  });

  test('that takes nothing keeps what it has until then: the control', async () => {
    const reader = await openSlowReader();
    await setTimeout(3 * idleReaderMs);
    expect(api.current.bodyBytes.held).toBeGreaterThanOrEqual(large);
    reader.destroy();
    await eventually('free', async () => isFree(api.current.bodyBytes));
  });
});
