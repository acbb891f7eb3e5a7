import { randomBytes, randomUUID } from 'node:crypto';
import { openTestDatabase, useStack } from '@sluice/testing';
import { testRows } from '../testing/test-rows.ts';
import { deleteEndedSessions } from './delete-ended-sessions.ts';

const database = useStack((stack) => openTestDatabase(stack));

test('sessions that ended go, by two workers at once; the others stay', async () => {
  const { db } = database.current;
  const rows = testRows(db);
  const tenant_id = await rows.tenant();
  const application_id = await rows.application(tenant_id);
  const moment = (fromNowMs: number) => new Date(Date.now() + fromNowMs).toISOString();
  const sessions = Array.from({ length: 2600 }, (_, i) => ({
    ...{ tenant_id, id: randomUUID(), application_id, made_from: '192.0.2.1', network: '192.0.2.0/24' },
    ...{ key_hash: randomBytes(32), nonce_hash: randomBytes(32) },
    expires_at: i < 2500 ? moment(-1000) : moment(3600_000),
  }));
  await db.insertInto('sessions').values(sessions).execute();
  await Promise.all([deleteEndedSessions(db), deleteEndedSessions(db)]);
  await deleteEndedSessions(db); // deletes what each left to the other
  const left = await db.selectFrom('sessions').select('id').where('tenant_id', '=', tenant_id).execute();
  expect(left.map(({ id }) => id).sort()).toEqual(
    sessions
      .slice(2500)
      .map(({ id }) => id)
      .sort(),
  );
});
