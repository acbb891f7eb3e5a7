import { randomUUID } from 'node:crypto';
import { untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));

const code = { code: 'module.exports = async ({ args }) => args' };

describe.each([
  ['a Proxy that is created', 'POST', 201, {}],
  ['a Proxy that is replaced', 'PUT', 200, {}],
  ['a Proxy that is patched', 'PATCH', 204, { 'Content-Type': 'application/merge-patch+json' }],
] as const)('%s, waiting for Postgres once its code is compiled', (_, method, done, headers) => {
  test.each([
    ['is not, for a key that was deleted meanwhile', true],
    ['is, for a key that is still there', false],
  ])('%s', async (_what, isDeleted) => {
    const { db, application, proxy, send } = api.current;
    const permissions = ['proxy:create', 'proxy:update'];
    const writer = await application({ type: 'management', permissions });
    const { id } = await proxy({ name: 'before' });
    const name = randomUUID();
    const body = { name, destination_url: 'https://example.com', request_transform: code, response_transform: code };
    const path = method === 'POST' ? '/proxies' : `/proxies/${id}`;
    const { answer } = await db.transaction().execute(async (tx) => {
      await sql`lock table proxies in exclusive mode`.execute(tx);
      const answer = send(method, path, { key: writer.key, body, headers });
      await untilLockIsAwaited(db);
      if (isDeleted) await db.deleteFrom('application_keys').where('application_id', '=', writer.id).execute();
      return { answer };
    });
    const { status } = await answer;
    const stored = await db.selectFrom('proxies').select('id').where('name', '=', name).execute();
    expect([status, stored.length]).toEqual(isDeleted ? [401, 0] : [done, 1]);
  });
});

describe.each(['one Proxy', 'a list'])('%s that waited for Postgres', (what) => {
  test.each([
    [401, 'shows no configuration to a key that was deleted meanwhile'],
    [200, 'is answered to a key that is still there'],
  ])('%i: %s', async (expected) => {
    const { db, application, proxy, send } = api.current;
    const reader = await application({ type: 'management', permissions: ['proxy:read'] });
    const { id } = await proxy({ configuration: { SECRET: 'the value' } });
    const { answer } = await db.transaction().execute(async (tx) => {
      await sql`lock table proxies in access exclusive mode`.execute(tx);
      const answer = send('GET', what === 'a list' ? `/proxies?id=${id}` : `/proxies/${id}`, { key: reader.key });
      await untilLockIsAwaited(db);
      if (expected === 401) await db.deleteFrom('application_keys').where('application_id', '=', reader.id).execute();
      return { answer };
    });
    const { status, body } = await answer;
    expect([status, JSON.stringify(body).includes('the value')]).toEqual([expected, expected === 200]);
  });
});
