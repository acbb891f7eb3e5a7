import { randomUUID } from 'node:crypto';
import { untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));

const code = 'module.exports = async ({ args }) => ({ raw: args })';

describe.each([
  ['a reactor that is created', 'POST', 201, {}],
  ['a reactor that is replaced', 'PUT', 200, {}],
  ['a reactor that is patched', 'PATCH', 204, { 'Content-Type': 'application/merge-patch+json' }],
] as const)('%s, waiting for Postgres once its code is compiled', (_, method, done, headers) => {
  test.each([
    ['is not, for a key that was deleted meanwhile', true],
    ['is, for a key that is still there', false],
  ])('%s', async (_what, isDeleted) => {
    const { db, application, reactor, send } = api.current;
    const writer = await application({ type: 'management', permissions: ['reactor:create', 'reactor:update'] });
    const { id } = await reactor({ name: 'before' });
    const name = randomUUID();
    const path = method === 'POST' ? '/reactors' : `/reactors/${id}`;
    const { answer } = await db.transaction().execute(async (tx) => {
      await sql`lock table reactors in exclusive mode`.execute(tx);
      const answer = send(method, path, { key: writer.key, body: { name, code }, headers });
      await untilLockIsAwaited(db);
      if (isDeleted) await db.deleteFrom('application_keys').where('application_id', '=', writer.id).execute();
      return { answer };
    });
    const { status } = await answer;
    const stored = await db.selectFrom('reactors').select('id').where('name', '=', name).execute();
    expect([status, stored.length]).toEqual(isDeleted ? [401, 0] : [done, 1]);
  });
});

describe.each(['one reactor', 'a list'])('%s that waited for Postgres', (what) => {
  test.each([
    [401, 'shows no configuration to a key that was deleted meanwhile'],
    [200, 'is answered to a key that is still there'],
  ])('%i: %s', async (expected) => {
    const { db, application, reactor, send } = api.current;
    const reader = await application({ type: 'management', permissions: ['reactor:read'] });
    const { id } = await reactor({ configuration: { SECRET: 'the value' } });
    const { answer } = await db.transaction().execute(async (tx) => {
      await sql`lock table reactors in access exclusive mode`.execute(tx);
      const answer = send('GET', what === 'a list' ? `/reactors?id=${id}` : `/reactors/${id}`, { key: reader.key });
      await untilLockIsAwaited(db);
      if (expected === 401) await db.deleteFrom('application_keys').where('application_id', '=', reader.id).execute();
      return { answer };
    });
    const { status, body } = await answer;
    expect([status, JSON.stringify(body).includes('the value')]).toEqual([expected, expected === 200]);
  });
});

test('a reactor is not created for a formula that is deleted meanwhile', async () => {
  const { db, formula, send } = api.current;
  const { id } = await formula();
  const { answer } = await db.transaction().execute(async (tx) => {
    await sql`lock table reactors in exclusive mode`.execute(tx);
    const answer = send('POST', '/reactors', { body: { name: 'R', formula: { id } } });
    await untilLockIsAwaited(db);
    await tx.deleteFrom('reactor_formulas').where('id', '=', id).execute();
    return { answer };
  });
  const { status, body } = await answer;
  expect([status, Object.keys(body.errors)]).toEqual([400, ['formula.id']]);
});
