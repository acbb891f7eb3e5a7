import { randomUUID } from 'node:crypto';
import type { Role } from '@sluice/access';
import { useStack } from '@sluice/testing';
import { shareTestConsole } from '../../testing/test-console.ts';
import { finish, startTestIssuers, visit } from '../../testing/test-issuers.ts';
import { secretOf } from './invitation.url.ts';
import { inviteOwner } from './invite-owner.ts';

/** Whoever made the link that is used may still give its role when it is used, or it gives nothing. */
const api = useStack(() => shareTestConsole());
const invitations = '/tenants/self/invitations';
const randomEmail = () => `${randomUUID()}@example.com`;
const refused = {
  status: 403,
  body: { detail: 'The person who invited you may no longer give this role. Ask for another invitation' },
};

async function ownTenant() {
  const { anotherTenant, signedIn, member, db, browser, send } = api.current;
  const tenant = await anotherTenant('Own');
  const { tenant_id: tenantId, management_key: key } = tenant;
  const owner = await signedIn(tenant.owner_id, tenantId);
  const join = (role: Role) => member(role, { tenantId });
  const setRole = (id: string, role: Role) => owner.send('PUT', `/api/tenants/self/members/${id}`, { body: { role } });
  const accept = (url: string) => browser().send('POST', '/api/invitations/accept', { body: { token: secretOf(url) } });
  const acceptable = async (id: string) => (await send('GET', `${invitations}/${id}`, { key })).body.acceptable;
  const memberCount = async () =>
    (await db.selectFrom('members').select('id').where('tenant_id', '=', tenantId).execute()).length;
  return { ...tenant, tenantId, key, owner, join, setRole, accept, acceptable, memberCount };
}

type Person = Awaited<ReturnType<Awaited<ReturnType<typeof ownTenant>>['join']>>;

const invite = async (by: Pick<Person, 'send'>, role: Role) =>
  (await by.send('POST', `/api${invitations}`, { body: { email: randomEmail(), role } })).body;

test('the control: an ADMIN who is still one has invited an ADMIN', async () => {
  const { join, accept, acceptable } = await ownTenant();
  const made = await invite(await join('ADMIN'), 'ADMIN');
  expect(await acceptable(made.id)).toBe(true);
  expect((await accept(made.url)).status).toBe(204);
});

test('who was removed does not come back by an invitation of their own', async () => {
  const { join, owner, accept, acceptable, memberCount } = await ownTenant();
  const admin = await join('ADMIN');
  const made = await invite(admin, 'ADMIN');
  expect((await owner.send('DELETE', `/api/tenants/self/members/${admin.id}`)).status).toBe(204);
  const before = await memberCount();
  expect(await acceptable(made.id)).toBe(false);
  expect(await accept(made.url)).toMatchObject(refused);
  expect(await memberCount()).toBe(before);

  const { body: resent } = await owner.send('POST', `/api${invitations}/${made.id}/resend`);
  expect(resent.acceptable).toBe(true);
  expect((await accept(resent.url)).status).toBe(204);
});

test.each([
  ['ADMIN', 'DEVELOPER', 'ADMIN'],
  ['ADMIN', 'DEVELOPER', 'DEVELOPER'],
  ['OWNER', 'ADMIN', 'OWNER'],
] as const)('who was demoted from %s to %s gives no %s any more', async (from, to, role) => {
  const { join, setRole, accept, acceptable } = await ownTenant();
  const person = await join(from);
  const made = await invite(person, role);
  expect((await setRole(person.id, to)).status).toBe(200);
  expect(await acceptable(made.id)).toBe(false);
  expect(await accept(made.url)).toMatchObject(refused);
  await setRole(person.id, from);
  expect((await accept(made.url)).status).toBe(204);
});

test('what a demoted OWNER may still give is accepted', async () => {
  const { join, setRole, accept } = await ownTenant();
  const person = await join('OWNER');
  const made = await invite(person, 'ADMIN');
  await setRole(person.id, 'ADMIN');
  expect((await accept(made.url)).status).toBe(204);
});

test('who sends an invitation again answers for it from then on', async () => {
  const { join, owner, setRole, accept } = await ownTenant();
  const admin = await join('ADMIN');
  const made = await invite(owner, 'ADMIN');
  const { body: resent } = await admin.send('POST', `/api${invitations}/${made.id}/resend`);
  await setRole(admin.id, 'AUDITOR');
  expect(await accept(resent.url)).toMatchObject(refused);
});

test.each(['gone', 'expired', 'without the permission to invite'])('by a key whose Application is %s', async (how) => {
  const { key: firstKey, accept, acceptable } = await ownTenant();
  const { send, application, db } = api.current;
  const permissions = ['tenant:invitation:create', 'log:read', 'report:read'];
  const reads = ['application', 'proxy', 'reactor', 'tenant', 'tenant:member', 'tenant:invitation'];
  const all = [...permissions, ...reads.map((noun) => `${noun}:read`)];
  const made = await application({ type: 'management', permissions: all }, { key: firstKey });
  const { body } = await send('POST', invitations, { key: made.key, body: { email: randomEmail() } });
  const { body: control } = await send('POST', invitations, { key: made.key, body: { email: randomEmail() } });
  expect((await accept(control.url)).status).toBe(204);
  const path = `/applications/${made.id}`;
  if (how === 'gone') await send('DELETE', path, { key: firstKey });
  else if (how === 'expired') {
    const expires_at = new Date(0).toISOString();
    await db.updateTable('applications').set({ expires_at }).where('id', '=', made.id).execute();
  } else {
    const body = { name: 'A', permissions: all.filter((one) => one !== 'tenant:invitation:create') };
    expect((await send('PUT', path, { key: firstKey, body })).status).toBe(200);
  }
  expect(await acceptable(body.id)).toBe(false);
  expect(await accept(body.url)).toMatchObject(refused);
});

test("the operator's invitation needs nobody, and the list says of each whether it can be accepted", async () => {
  const { join, owner, tenantId } = await ownTenant();
  const { db, pepper } = api.current;
  const admin = await join('ADMIN');
  const [lost, kept] = [await invite(admin, 'ADMIN'), await invite(owner, 'ADMIN')];
  await inviteOwner(db, pepper, { tenantId, email: randomEmail() });
  await owner.send('DELETE', `/api/tenants/self/members/${admin.id}`);
  const { body } = await owner.send('GET', `/api${invitations}`);
  const shown = body.data.map(({ role, id, acceptable }: { role: Role; id: string; acceptable: boolean }) => [
    role === 'OWNER' ? 'operator' : id,
    acceptable,
  ]);
  expect(shown).toEqual([
    ['operator', true],
    [kept.id, true],
    [lost.id, false],
  ]);
});

test('a giver of another Tenant counts for nothing here', async () => {
  const [here, elsewhere] = [await ownTenant(), await ownTenant()];
  const { db, member } = api.current;
  const admin = await here.join('ADMIN');
  await member('OWNER', { tenantId: elsewhere.tenantId, userId: admin.userId });
  const made = await invite(admin, 'ADMIN');
  await here.owner.send('DELETE', `/api/tenants/self/members/${admin.id}`);
  expect(await here.accept(made.url)).toMatchObject(refused);
  expect(await db.selectFrom('invitations').select('id').where('id', '=', made.id).execute()).toHaveLength(1);
});

describe('by an issuer', () => {
  const issuers = useStack((stack) => startTestIssuers(stack));

  test('it is the same, and the person may finish by another way', async () => {
    const { one, browser, db, tenantId, member } = issuers.current;
    const email = randomEmail();
    one.account = email;
    one.accounts.set(email, { email, email_verified: true, groups: ['auditors'] });
    const [admin, owner] = [await member('ADMIN', { tenantId }), await member('OWNER', { tenantId })];
    const { body: made } = await admin.send('POST', `/api${invitations}`, { body: { email, role: 'ADMIN' } });
    await owner.send('DELETE', `/api/tenants/self/members/${admin.id}`);
    const person = browser();
    await visit(person, 'one');
    expect(await finish(person, { invitation: secretOf(made.url) })).toMatchObject(refused);
    expect((await finish(person)).status).toBe(204);
    expect((await person.send('GET', '/api/me')).body.role).toBe('AUDITOR');
    expect(await db.selectFrom('invitations').select('id').where('id', '=', made.id).execute()).toHaveLength(1);
  });
});
