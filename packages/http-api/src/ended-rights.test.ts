import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { apiPart, bodyBytesFrom } from '@sluice/body-bytes';
import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import { listen } from '@sluice/service-runtime';
import { eventually, useStack } from '@sluice/testing';
import pino from 'pino';
import { createHttpServer, expressApi, type IdempotencyStore, operationsOf, Reply } from './index.ts';

const mebibyte = 1024 * 1024;
const permission = 'token:create';
const value = 'the value';

async function startApi(stack: AsyncDisposableStack) {
  const bodyBytes = bodyBytesFrom(
    { BODY_HELD_BYTES: 64 * mebibyte, BODY_HELD_TENANT_BYTES: 16 * mebibyte, BODY_WAIT_MS: 60_000 },
    apiPart,
  );
  const caller: Caller = { id: 'a', tenantId: 'a', type: 'private', permissions: [permission], rules: [] };
  const known: { caller: Caller | undefined; next: Caller | undefined } = { caller, next: caller };
  /** NaN as without caches; a test of invalidations sets and raises it. */
  const state = { invalidations: Number.NaN, asked: 0 };
  let acted: Caller[] = [];
  const operation = operationsOf<object>();
  const shared = { tag: 'T', summary: 'S', permission, response: { 200: {} } } as const;
  const operations = [
    operation({
      ...shared,
      id: 'write',
      method: 'post',
      path: '/write',
      body: {},
      async handle({ caller: acting, look }) {
        await look();
        acted.push(acting);
        known.caller = known.next;
        return {};
      },
    }),
    operation({
      ...shared,
      id: 'read',
      method: 'get',
      path: '/read',
      showsSecrets: true,
      async handle({ hold }) {
        await hold(15 * mebibyte);
        return { value };
      },
    }),
    operation({
      ...shared,
      id: 'wait',
      method: 'get',
      path: '/wait',
      showsSecrets: true,
      async handle() {
        known.caller = known.next;
        return { value };
      },
    }),
  ];
  const authenticate = async () => {
    state.asked += 1;
    if (!known.caller) throw new ServiceError('unauthenticated', 'No');
    return known.caller;
  };
  /** Has an answer to each request, whose change waits to be confirmed. */
  const idempotency: IdempotencyStore = {
    async run({ onReplay }) {
      known.caller = known.next;
      return onReplay(new Reply(200, { value }), { changeId: 'a', holders: 0, waitedMs: 0 });
    },
  };
  const log = pino({ level: 'silent' });
  const caches = { invalidations: () => state.invalidations, mayHaveCome: () => false };
  const api = { operations, context: {}, authenticate, caches, headerPrefix: 'SVC', log, bodyBytes, idempotency };
  const app = expressApi(api);
  const port = await listen(createHttpServer(app), { host: '127.0.0.1', port: 0, stack });
  const open = (head: string): Socket => {
    const socket = connect(port, '127.0.0.1');
    socket.write(`${head}\r\nHost: x\r\nSVC-API-KEY: a\r\nConnection: close\r\n`);
    return socket;
  };
  const reset = () => {
    known.caller = caller;
    known.next = caller;
    Object.assign(state, { invalidations: Number.NaN, asked: 0 });
    acted = [];
  };
  return { bodyBytes, caller, known, state, open, reset, acted: () => acted };
}

const api = useStack(startApi);
beforeEach(() => api.current.reset());

const changes: [string, (caller: Caller) => Caller | undefined, number][] = [
  ['its key is gone', () => undefined, 401],
  ['its permission is taken away', (caller) => ({ ...caller, permissions: ['token:read'] }), 403],
  ['others of its rights change', (caller) => ({ ...caller, permissions: [permission, 'token:read'] }), 503],
  ['nothing changes', (caller) => ({ ...caller }), 200],
];

async function answerOn(socket: Socket) {
  const answer = await text(socket);
  return [Number(answer.split(' ')[1]), answer.includes(value)];
}

const get = (path: string) => {
  const socket = api.current.open(`GET ${path} HTTP/1.1`);
  socket.write('\r\n');
  return socket;
};
const json = 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n';

test.each(changes)('where %s during an upload', async (_, change, status) => {
  const { bodyBytes, caller, known, open, acted } = api.current;
  const socket = open('POST /write HTTP/1.1');
  socket.write(json);
  await eventually('the body is awaited', async () => bodyBytes.held > 0);
  known.caller = change(caller);
  socket.write('{}');
  expect(await answerOn(socket)).toEqual([status, false]);
  expect(acted()).toEqual(status === 200 ? [caller] : []);
});

test.each(changes)('where %s while a request waits for room', async (_, change, status) => {
  const { bodyBytes, caller, known } = api.current;
  const other = bodyBytes.open({ tenantId: 'a' }).part('answer');
  await other.grow(15 * mebibyte);
  const socket = get('/read');
  await eventually('it waits', async () => bodyBytes.waiting > 0);
  known.caller = change(caller);
  other.release();
  expect(await answerOn(socket)).toEqual([status, status === 200]);
});

test.each(changes)('where %s while a handler waits', async (_, change, status) => {
  const { caller, known } = api.current;
  known.next = change(caller);
  expect(await answerOn(get('/wait'))).toEqual([status, status === 200]);
});

test.each(changes)('where %s while the change of a kept answer is confirmed', async (_, change, status) => {
  const { caller, known, open, acted } = api.current;
  known.next = change(caller);
  const socket = open('POST /write HTTP/1.1');
  socket.write(`SVC-IDEMPOTENCY-KEY: one\r\n${json}{}`);
  expect(await answerOn(socket)).toEqual([status, status === 200]);
  expect(acted()).toEqual([]);
});

test.each(changes)('where %s once a change is made, it is confirmed all the same', async (_, change) => {
  const { caller, known, open, acted } = api.current;
  known.next = change(caller);
  const socket = open('POST /write HTTP/1.1');
  socket.write(`${json}{}`);
  expect(await answerOn(socket)).toEqual([200, false]);
  expect(acted()).toEqual([caller]);
});

describe('where callers are cached', () => {
  test('a look without an invalidation asks nobody', async () => {
    const { state } = api.current;
    state.invalidations = 1;
    expect(await answerOn(get('/wait'))).toEqual([200, true]);
    expect(state.asked).toBe(1);
  });

  test('a look after an invalidation refuses a key that is gone', async () => {
    const { bodyBytes, known, state } = api.current;
    state.invalidations = 1;
    const other = bodyBytes.open({ tenantId: 'a' }).part('answer');
    await other.grow(15 * mebibyte);
    const socket = get('/read');
    await eventually('it waits', async () => bodyBytes.waiting > 0);
    known.caller = undefined;
    state.invalidations += 1;
    other.release();
    expect(await answerOn(socket)).toEqual([401, false]);
  });
});
