import { randomUUID } from 'node:crypto';
import { untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const code = 'module.exports = async ({ args }) => args';
const transform = { code };
const transforms = { request_transform: transform, response_transform: transform };

const resources = [
  ['proxy', 'proxies', { destination_url: 'https://example.com', ...transforms }],
  ['reactor', 'reactors', { code }],
] as const;

describe.each(resources)('a %s', (kind, table, body) => {
  describe.each([
    ['created', 'POST', 201, {}],
    ['replaced', 'PUT', 200, {}],
    ['patched', 'PATCH', 204, { 'Content-Type': 'application/merge-patch+json' }],
  ] as const)('that is %s, waiting for Postgres once its code is compiled', (_, method, done, headers) => {
    test.each([
      ['is not, for a key that was deleted meanwhile', true],
      ['is, for a key that is still there', false],
    ])('%s', async (_what, isDeleted) => {
      const { db, application, send } = api.current;
      const writer = await application({ type: 'management', permissions: [`${kind}:create`, `${kind}:update`] });
      const { id } = await api.current[kind]({ name: 'before' });
      const name = randomUUID();
      const path = method === 'POST' ? `/${table}` : `/${table}/${id}`;
      const { answer } = await db.transaction().execute(async (tx) => {
        await sql`lock table ${sql.table(table)} in exclusive mode`.execute(tx);
        const answer = send(method, path, { key: writer.key, body: { name, ...body }, headers });
        await untilLockIsAwaited(db);
        if (isDeleted) await db.deleteFrom('application_keys').where('application_id', '=', writer.id).execute();
        return { answer };
      });
      const { status } = await answer;
      const stored = await db.selectFrom(table).select('id').where('name', '=', name).execute();
      expect([status, stored.length]).toEqual(isDeleted ? [401, 0] : [done, 1]);
    });
  });

  describe.each(['alone', 'in a list'])('that is read %s, and waited for Postgres', (how) => {
    test.each([
      [401, 'shows no configuration to a key that was deleted meanwhile'],
      [200, 'is answered to a key that is still there'],
    ])('%i: %s', async (expected) => {
      const { db, application, send } = api.current;
      const reader = await application({ type: 'management', permissions: [`${kind}:read`] });
      const { id } = await api.current[kind]({ configuration: { SECRET: 'the value' } });
      const { answer } = await db.transaction().execute(async (tx) => {
        await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(tx);
        const path = how === 'alone' ? `/${table}/${id}` : `/${table}?id=${id}`;
        const answer = send('GET', path, { key: reader.key });
        await untilLockIsAwaited(db);
        if (expected === 401) await db.deleteFrom('application_keys').where('application_id', '=', reader.id).execute();
        return { answer };
      });
      const { status, body: seen } = await answer;
      expect([status, JSON.stringify(seen).includes('the value')]).toEqual([expected, expected === 200]);
    });
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
