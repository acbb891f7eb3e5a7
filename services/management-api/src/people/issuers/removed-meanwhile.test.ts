import type { Queryable } from '@sluice/database';
import { slow, untilLockIsAwaited, useStack } from '@sluice/testing';
import { finish, startTestIssuers, tenantsIn, visit } from '../../testing/test-issuers.ts';

const api = useStack((stack) => startTestIssuers(stack));

let people = 0;

/** Somebody whom a group has made a member, who sits at the browser of the issuer. */
async function addGroupMember() {
  const { one, browser, db } = api.current;
  const subject = `person-${people++}`;
  one.account = subject;
  one.accounts.set(subject, { email: `${subject}@example.com`, email_verified: true, groups: ['admins'] });
  const person = browser();
  await visit(person, 'one');
  expect((await finish(person)).status).toBe(204);
  const { id, userId } = await db
    .selectFrom('members')
    .innerJoin('identities', 'identities.user_id', 'members.user_id')
    .select(['members.id', 'members.user_id as userId'])
    .where('identities.subject', '=', subject)
    .executeTakeFirstOrThrow();
  const isMember = async () => {
    const rows = await db.selectFrom('members').select('role').where('user_id', '=', userId).execute();
    return rows.length > 0;
  };
  return { person, id, userId, isMember };
}

type GroupMember = Awaited<ReturnType<typeof addGroupMember>>;

/** A sign-in by the group waits for a transaction in which the membership ends. @returns the Tenants that it may enter. */
async function signInWhile(member: GroupMember, end: (tx: Queryable) => Promise<unknown>) {
  const { db, browser } = api.current;
  const { back } = await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('members').where('id', '=', member.id).execute();
    await end(tx);
    const back = visit(browser(), 'one');
    await untilLockIsAwaited(db);
    return { back };
  });
  return tenantsIn(await back);
}

test('whom a person removes while they sign in by a group is not made a member again by that', async () => {
  const member = await addGroupMember();
  const { tenantId: tenant_id } = api.current;
  const remove = (tx: Queryable) =>
    tx.insertInto('former_members').values({ tenant_id, user_id: member.userId }).execute();
  expect(await signInWhile(member, remove)).toEqual([]);
  expect(await member.isMember()).toBe(false);
});

test('the control: where the membership ends without a person, the sign-in that waited makes it again', async () => {
  const member = await addGroupMember();
  expect(await signInWhile(member, async () => undefined)).toEqual([api.current.tenantId]);
  expect(await member.isMember()).toBe(true);
});

slow('0.8 s')(
  'of many sign-ins by a group and one removal at once, whoever comes first, nobody is a member at the end',
  async () => {
    const { tenantId, member: newMember, browser } = api.current;
    const owner = await newMember('OWNER', { tenantId });
    for (let round = 0; round < 5; round++) {
      const { person, id, isMember } = await addGroupMember();
      const [removed, ...backs] = await Promise.all([
        owner.send('DELETE', `/api/tenants/self/members/${id}`),
        ...Array.from({ length: 6 }, () => visit(browser(), 'one')),
      ]);
      expect([removed.status, backs.map(({ status }) => status)]).toEqual([204, Array(6).fill(200)]);
      expect(await isMember()).toBe(false);
      expect((await person.send('GET', '/api/me')).status).toBe(401);
      expect(tenantsIn(await visit(browser(), 'one'))).toEqual([]);
    }
  },
);
