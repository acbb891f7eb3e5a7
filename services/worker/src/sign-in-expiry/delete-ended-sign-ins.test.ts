import { randomBytes } from 'node:crypto';
import { insertTestMember, openTestDatabase, useStack } from '@sluice/testing';
import { testRows } from '../testing/test-rows.ts';
import { deleteEndedSignIns } from './delete-ended-sign-ins.ts';

const database = useStack((stack) => openTestDatabase(stack));
const hour = 3600_000;
const moment = (fromNowMs: number) => new Date(Date.now() + fromNowMs).toISOString();

test('sign-ins and links that ended go, and invitations a month later, by two workers at once; the others stay', async () => {
  const { db } = database.current;
  const tenant_id = await testRows(db).tenant();
  const { userId: user_id } = await insertTestMember(db, { tenantId: tenant_id, role: 'ADMIN' });
  const row = (expires_at: string) => ({ tenant_id, secret_hash: randomBytes(32), expires_at });
  const ended = Array.from({ length: 1500 }, () => ({ ...row(moment(-1000)), user_id }));
  const [signIn, link] = [
    { ...row(moment(hour)), user_id },
    { ...row(moment(hour)), user_id },
  ];
  await db
    .insertInto('sign_ins')
    .values([...ended, signIn])
    .execute();
  await db
    .insertInto('sign_in_links')
    .values([...ended, link])
    .execute();
  const invitation = (expiredHoursAgo: number) => ({
    ...row(moment(-expiredHoursAgo * hour)),
    email: 'a@b',
    role: 'ADMIN' as const,
  });
  const [old, recent] = [invitation(31 * 24), invitation(29 * 24)];
  await db
    .insertInto('invitations')
    .values([old, recent, invitation(-1)])
    .execute();

  await Promise.all([deleteEndedSignIns(db), deleteEndedSignIns(db)]);
  await deleteEndedSignIns(db); // deletes what each left to the other
  const left = async (table: 'sign_ins' | 'sign_in_links' | 'invitations') =>
    (await db.selectFrom(table).select('secret_hash').execute()).map(({ secret_hash }) => secret_hash.toString('hex'));
  expect(await left('sign_ins')).toEqual([signIn.secret_hash.toString('hex')]);
  expect(await left('sign_in_links')).toEqual([link.secret_hash.toString('hex')]);
  const invitations = await left('invitations');
  expect(invitations).toHaveLength(2);
  expect(invitations).not.toContain(old.secret_hash.toString('hex'));
});
