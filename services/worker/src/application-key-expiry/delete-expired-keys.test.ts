import { randomBytes } from 'node:crypto';
import { openTestDatabase, useStack } from '@sluice/testing';
import { testRows } from '../testing/test-rows.ts';
import { deleteExpiredKeys } from './delete-expired-keys.ts';

const database = useStack((stack) => openTestDatabase(stack));

test('two workers at once delete each expired key once, with one audit row, and no other key', async () => {
  const { db } = database.current;
  const rows = testRows(db);
  const tenant_id = await rows.tenant();
  const application_id = await rows.application(tenant_id);
  const moment = (fromNowMs: number) => new Date(Date.now() + fromNowMs).toISOString();
  const keys = Array.from({ length: 1200 }, (_, i) => ({
    ...{ tenant_id, application_id, version: i + 2, key_hash: randomBytes(32), name: `Key ${i}` },
    expires_at: i < 1100 ? moment(-1000) : moment(3600_000),
  }));
  await db.insertInto('application_keys').values(keys).execute();
  await Promise.all([deleteExpiredKeys(db), deleteExpiredKeys(db)]);
  await deleteExpiredKeys(db); // deletes what each left to the other
  const left = await db.selectFrom('application_keys').select('version').where('tenant_id', '=', tenant_id).execute();
  expect(left).toHaveLength(101);
  const named = await db.selectFrom('former_names').select('name').where('tenant_id', '=', tenant_id).execute();
  expect(new Set(named.map(({ name }) => name)).size).toBe(1100);
  const audited = await db
    .selectFrom('audit_log')
    .select(['operation', 'entity_id', 'detail'])
    .where('tenant_id', '=', tenant_id)
    .execute();
  expect(audited).toHaveLength(1100);
  expect(new Set(audited.map(({ detail }) => JSON.stringify(detail))).size).toBe(1100);
  expect(audited[0]).toMatchObject({ operation: 'update', entity_id: application_id });
});
