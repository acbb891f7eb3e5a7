import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { apiPart, openBodyBytes } from '@sluice/body-bytes';
import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import { listen } from '@sluice/service-runtime';
import { eventually, useStack } from '@sluice/testing';
import pino from 'pino';
import { createApi, createHttpServer, type IdempotencyStore, operationsOf, Reply } from './index.ts';

const mebibyte = 1024 * 1024;
const permission = 'token:create';

async function startApi(stack: AsyncDisposableStack) {
  const bodyBytes = openBodyBytes(
    { BODY_HELD_BYTES: 64 * mebibyte, BODY_HELD_TENANT_BYTES: 16 * mebibyte, BODY_WAIT_MS: 60_000 },
    apiPart,
  );
  const caller: Caller = { id: 'a', tenantId: 'a', type: 'private', permissions: [permission], rules: [] };
  const known: { caller: Caller | undefined; next: Caller | undefined } = { caller, next: caller };
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
      async handle({ caller: acting }) {
        acted.push(acting);
        return {};
      },
    }),
    operation({
      ...shared,
      id: 'read',
      method: 'get',
      path: '/read',
      async handle({ caller: acting, hold }) {
        await hold(15 * mebibyte);
        acted.push(acting);
        return {};
      },
    }),
    operation({
      ...shared,
      id: 'wait',
      method: 'get',
      path: '/wait',
      async handle({ caller: acting, checkCallerAgain }) {
        known.caller = known.next;
        await checkCallerAgain();
        acted.push(acting);
        return {};
      },
    }),
  ];
  const authenticate = async () => {
    if (!known.caller) throw new ServiceError('unauthenticated', 'No');
    return known.caller;
  };
  /** Has an answer to each request, whose change waits to be confirmed. */
  const idempotency: IdempotencyStore = {
    async run({ onReplay }) {
      known.caller = known.next;
      return onReplay(new Reply(200, {}), { changeId: 'a', holders: 0, waitedMs: 0 });
    },
  };
  const log = pino({ level: 'silent' });
  const app = createApi({ operations, context: {}, authenticate, headerPrefix: 'SVC', log, bodyBytes, idempotency });
  const port = await listen(createHttpServer(app), { host: '127.0.0.1', port: 0, stack });
  const open = (head: string): Socket => {
    const socket = connect(port, '127.0.0.1');
    socket.write(`${head}\r\nHost: x\r\nSVC-API-KEY: a\r\nConnection: close\r\n`);
    return socket;
  };
  const reset = () => {
    known.caller = caller;
    acted = [];
  };
  return { bodyBytes, caller, known, open, reset, acted: () => acted };
}

const api = useStack(startApi);
beforeEach(() => api.current.reset());

const changes: [string, (caller: Caller) => Caller | undefined, number, number][] = [
  ['its key is gone', () => undefined, 401, 401],
  ['its permission is taken away', (caller) => ({ ...caller, permissions: ['token:read'] }), 403, 403],
  ['others of its rights change', (caller) => ({ ...caller, permissions: [permission, 'token:read'] }), 200, 503],
  ['nothing changes', (caller) => ({ ...caller }), 200, 200],
];

const statusOf = async (socket: Socket) => Number((await text(socket)).split(' ')[1]);

test.each(changes)('where %s during an upload', async (_, change, status) => {
  const { bodyBytes, caller, known, open, acted } = api.current;
  const socket = open('POST /write HTTP/1.1');
  socket.write('Content-Type: application/json\r\nContent-Length: 2\r\n\r\n');
  await eventually('the body is awaited', async () => bodyBytes.held > 0);
  known.caller = change(caller);
  socket.write('{}');
  expect(await statusOf(socket)).toBe(status);
  expect(acted()).toEqual(status === 200 ? [known.caller] : []);
});

test.each(changes)('where %s while a request waits for room', async (_, change, _status, status) => {
  const { bodyBytes, caller, known, open, acted } = api.current;
  const other = bodyBytes.open('a', 'answer', 15 * mebibyte);
  await other.growTo(15 * mebibyte);
  const socket = open('GET /read HTTP/1.1');
  socket.write('\r\n');
  await eventually('it waits', async () => bodyBytes.waiting > 0);
  known.caller = change(caller);
  other.release();
  expect(await statusOf(socket)).toBe(status);
  expect(acted()).toHaveLength(status === 200 ? 1 : 0);
});

test.each(changes)('where %s while a handler waits', async (_, change, _status, status) => {
  const { caller, known, open, acted } = api.current;
  known.next = change(caller);
  const socket = open('GET /wait HTTP/1.1');
  socket.write('\r\n');
  expect(await statusOf(socket)).toBe(status);
  expect(acted()).toHaveLength(status === 200 ? 1 : 0);
});

test.each(changes)('where %s while the change of a kept answer is confirmed', async (_, change, _status, status) => {
  const { caller, known, open, acted } = api.current;
  known.next = change(caller);
  const socket = open('POST /write HTTP/1.1');
  socket.write('SVC-IDEMPOTENCY-KEY: one\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}');
  expect(await statusOf(socket)).toBe(status);
  expect(acted()).toEqual([]);
});
