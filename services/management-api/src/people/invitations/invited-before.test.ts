import type { Queryable } from '@sluice/database';
import { untilLockIsAwaited, useStack } from '@sluice/testing';
import { finish, startTestIssuers, visit } from '../../testing/test-issuers.ts';

/** Whoever was removed or demoted by a person stays so until invited again; an invitation from before is none. */
const api = useStack((stack) => startTestIssuers(stack));

let people = 0;

/** Somebody whom a group has made an AUDITOR, and an invitation to be an ADMIN that they have not accepted. */
async function invitedMember() {
  const { one, browser, db, tenantId, invitationTo } = api.current;
  const subject = `person-${people++}`;
  const email = `${subject}@example.com`;
  one.account = subject;
  one.accounts.set(subject, { email, email_verified: true, groups: ['auditors'] });
  const person = browser();
  const invitation = await invitationTo(email, { tenantId, role: 'ADMIN' });
  await visit(person, 'one');
  const { id, userId } = await db
    .selectFrom('members')
    .innerJoin('identities', 'identities.user_id', 'members.user_id')
    .select(['members.id', 'members.user_id as userId'])
    .where('identities.subject', '=', subject)
    .executeTakeFirstOrThrow();
  const role = async () => {
    const row = await db.selectFrom('members').select('role').where('user_id', '=', userId).executeTakeFirst();
    return row?.role;
  };
  return { person, id, userId, email, invitation, role };
}

const owner = () => api.current.member('OWNER', { tenantId: api.current.tenantId });

test('the control: where nobody has changed anything the invitation is accepted', async () => {
  const { person, invitation, role } = await invitedMember();
  expect((await finish(person, { invitation })).status).toBe(204);
  expect(await role()).toBe('ADMIN');
});

test('whoever was removed does not come back by an invitation from before, and does by one that is sent again', async () => {
  const { person, id, email, invitation, role } = await invitedMember();
  const by = await owner();
  expect((await by.send('DELETE', `/api/tenants/self/members/${id}`)).status).toBe(204);
  const refused = await finish(person, { invitation });
  expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining('ask for another')]);
  expect(await role()).toBeUndefined();
  const { body: list } = await by.send('GET', '/api/tenants/self/invitations?size=100');
  const { id: invitationId } = list.data.find((one: { email: string }) => one.email === email);
  const again = await by.send('POST', `/api/tenants/self/invitations/${invitationId}/resend`);
  await visit(person, 'one');
  expect((await finish(person, { invitation: again.body.url.split('#')[1] })).status).toBe(204);
  expect(await role()).toBe('ADMIN');
});

test('whoever was demoted does not rise by one', async () => {
  const { person, id, invitation, role } = await invitedMember();
  const body = { role: 'DEVELOPER' };
  expect((await (await owner()).send('PUT', `/api/tenants/self/members/${id}`, { body })).status).toBe(200);
  expect((await finish(person, { invitation })).status).toBe(409);
  expect(await role()).toBe('DEVELOPER');
});

test('nor does whoever is removed while they accept', async () => {
  const { db, tenantId: tenant_id } = api.current;
  const { person, id, userId, invitation, role } = await invitedMember();
  const remove = async (tx: Queryable) => {
    await tx.deleteFrom('members').where('id', '=', id).execute();
    await tx.insertInto('former_members').values({ tenant_id, user_id: userId }).execute();
  };
  const { answer } = await db.transaction().execute(async (tx) => {
    await remove(tx);
    const answer = finish(person, { invitation });
    await untilLockIsAwaited(db);
    return { answer };
  });
  expect((await answer).status).toBe(403);
  expect(await role()).toBeUndefined();
});
