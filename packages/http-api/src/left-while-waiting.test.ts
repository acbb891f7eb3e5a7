import type { Caller } from '@sluice/credentials';
import { connectDatabase, inRowTurns } from '@sluice/database';
import { listen } from '@sluice/service-runtime';
import { eventually, useStack } from '@sluice/testing';
import pino from 'pino';
import { createHttpServer, expressApi, operationsOf } from './index.ts';

const permission = 'token:create';
const caller: Caller = { id: 'a', tenantId: 'a', type: 'private', permissions: [permission], rules: [] };

/** Its operation changes one row, whose turns nobody ends before `go`. */
const api = useStack(async (stack) => {
  const db = connectDatabase(
    { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', DATABASE_POOL_SIZE: 1 },
    { stack, onError: () => {} },
  );
  const { promise, resolve: go } = Promise.withResolvers<void>();
  const [arrived, ended, changed]: [string[], string[], string[]] = [[], [], []];
  const change = operationsOf<object>()({
    ...{ tag: 'T', summary: 'S', id: 'change', method: 'post', path: '/changes/:name', permission },
    ...{
      params: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      response: { 200: {} },
    },
    async handle({ params: { name } }: { params: { name: string } }) {
      arrived.push(name);
      try {
        await inRowTurns(db, { tenantId: 'a', rows: ['row'] }, async () => {
          changed.push(name);
          await promise;
        });
      } finally {
        ended.push(name);
      }
      return {};
    },
  });
  const log = pino({ level: 'silent' });
  const app = expressApi({ operations: [change], context: {}, authenticate: () => caller, headerPrefix: 'SVC', log });
  const port = await listen(createHttpServer(app), { host: '127.0.0.1', port: 0, stack });
  const send = (name: string, signal?: AbortSignal) =>
    fetch(`http://127.0.0.1:${port}/changes/${name}`, { method: 'POST', ...(signal && { signal }) });
  return { send, go, arrived, ended, changed };
});

test('what a caller wanted to change is not changed if it leaves before its turn', async () => {
  const { send, go, arrived, ended, changed } = api.current;
  const leaving = new AbortController();
  const first = send('first');
  await eventually('the first has the row', () => changed.length === 1);
  const left = send('left', leaving.signal).catch((error: Error) => error.name);
  const stayed = send('stayed');
  await eventually('both wait', () => arrived.length === 3);
  leaving.abort();
  expect(await left).toBe('AbortError');
  await eventually('the place in the queue is given up', () => ended.includes('left'));
  go();
  expect([(await first).status, (await stayed).status]).toEqual([200, 200]);
  expect(changed).toEqual(['first', 'stayed']);
});
