import { randomUUID } from 'node:crypto';
import { permissionsOf, type Role } from '@sluice/access';
import { generateSecret, hashKey } from '@sluice/credentials';
import { untilLockIsAwaited, useStack } from '@sluice/testing';
import { startTestConsole } from '../../testing/test-console.ts';
import { finish, startTestIssuers, visit } from '../../testing/test-issuers.ts';
import { insertLink } from '../sign-ins/link.queries.ts';
import { insertInvitation } from './invitation.queries.ts';
import { secretOf } from './invitation.url.ts';

/** A member without an account at an issuer comes back by an invitation to their own address, with the role they have. */
const invitations = '/api/tenants/self/invitations';
const members = '/api/tenants/self/members';
const changed = { status: 403, body: { detail: expect.stringContaining('was created has changed') } };

type Console = Awaited<ReturnType<typeof startTestConsole>>;

async function ownTenant({ anotherTenant, signedIn, member, db, browser, send }: Console) {
  const tenant = await anotherTenant('Own');
  const { tenant_id: tenantId } = tenant;
  const owner = await signedIn(tenant.owner_id, tenantId);
  const join = async (role: Role, email = `${randomUUID()}@example.com`) => {
    const joined = await member(role, { tenantId });
    await db.updateTable('users').set({ email }).where('id', '=', joined.userId).execute();
    return { ...joined, email };
  };
  const invite = (by: Pick<typeof owner, 'send'>, body: object) => by.send('POST', invitations, { body });
  const accept = (url: string, by = browser()) =>
    by.send('POST', '/api/invitations/accept', { body: { token: secretOf(url) } });
  const people = () => db.selectFrom('members').select(['user_id', 'role']).where('tenant_id', '=', tenantId).execute();
  const setRole = (id: string, role: Role) => owner.send('PUT', `${members}/${id}`, { body: { role } });
  const log = (entityId: string) =>
    db.selectFrom('audit_log').select(['operation', 'detail']).where('entity_id', '=', entityId).execute();
  return { ...tenant, tenantId, owner, join, invite, accept, people, setRole, log, send };
}

describe('where the link alone is enough', () => {
  const api = useStack((stack) => startTestConsole(stack));
  const own = () => ownTenant(api.current);

  test('the former person is out with all sign-ins and links, and the new one has the role', async () => {
    const { db, pepper, browser, signedIn } = api.current;
    const { owner, owner_id: ownerId, join, invite, accept, people, tenantId, log } = await own();
    const gone = await join('ADMIN');
    const second = await signedIn(gone.userId, tenantId);
    const secret = 'x'.repeat(43);
    await insertLink(db, { tenantId, userId: gone.userId, secretHash: hashKey(pepper, secret) });
    const made = await invite(owner, { email: gone.email.toUpperCase() });
    expect(made).toMatchObject({ status: 201, body: { role: 'ADMIN', member_id: gone.id, acceptable: true } });
    expect((await gone.send('GET', '/api/me')).status).toBe(200); // nothing ends before it is accepted

    const back = browser();
    expect((await accept(made.body.url, back)).status).toBe(204);
    const { body: me } = await back.send('GET', '/api/me');
    expect(me).toMatchObject({ role: 'ADMIN', user: { email: gone.email }, tenant: { id: tenantId } });
    expect(me.user.id).not.toBe(gone.userId);
    for (const former of [gone, second]) expect((await former.send('GET', '/api/me')).status).toBe(401);
    expect((await browser().signIn({ secret })).status).toBe(401);
    expect((await people()).filter(({ role }) => role === 'ADMIN')).toEqual([{ user_id: me.user.id, role: 'ADMIN' }]);
    expect(await log(gone.id)).toEqual([
      {
        operation: 'delete',
        detail: { user_id: gone.userId, former_role: 'ADMIN', replaced_by: me.user.id, invited_by: ownerId },
      },
    ]);
    expect((await accept(made.body.url)).status).toBe(401);
  });

  test('the former person stays a member of other Tenants, and the new one is none there', async () => {
    const { member, signedIn, browser } = api.current;
    const [here, elsewhere] = [await own(), await own()];
    const gone = await here.join('DEVELOPER');
    await member('ADMIN', { tenantId: elsewhere.tenantId, userId: gone.userId });
    const there = await signedIn(gone.userId, elsewhere.tenantId);
    const back = browser();
    await here.accept((await here.invite(here.owner, { email: gone.email })).body.url, back);
    expect((await there.send('GET', '/api/me')).body).toMatchObject({ role: 'ADMIN', tenants: [{ role: 'ADMIN' }] });
    const body = { tenant_id: elsewhere.tenantId };
    expect((await back.send('POST', '/api/sign-in/tenant', { body })).status).toBe(404);
  });

  test('whoever may not give the role of the member does not invite to it, with or without another role', async () => {
    const { join, owner, invite, send, management_key: key } = await own();
    const [admin, developer] = [await join('ADMIN'), await join('DEVELOPER')];
    const target = await join('OWNER');
    for (const body of [{ email: target.email }, { email: target.email, role: 'AUDITOR' }]) {
      expect((await invite(admin, body)).status).toBe(403);
      expect((await send('POST', '/tenants/self/invitations', { key, body })).status).toBe(403);
      expect((await invite(developer, body)).status).toBe(403);
    }
    expect((await invite(owner, { email: target.email })).body).toMatchObject({ role: 'OWNER', member_id: target.id });
  });

  test('another role than that of the member is 409, and so are two members of one address', async () => {
    const { join, owner, invite } = await own();
    const target = await join('DEVELOPER');
    const refused = await invite(owner, { email: target.email, role: 'ADMIN' });
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('the role DEVELOPER')]);
    expect((await invite(owner, { email: target.email, role: 'DEVELOPER' })).status).toBe(201);
    const twin = await join('AUDITOR');
    await join('ADMIN', twin.email);
    expect((await invite(owner, { email: twin.email })).status).toBe(409);
  });

  test.each([
    ['up', 'DEVELOPER', 'ADMIN'],
    ['down', 'ADMIN', 'AUDITOR'],
  ] as const)('a member whose role has gone %s since is not replaced', async (_way, from, to) => {
    const { join, owner, invite, accept, setRole } = await own();
    const target = await join(from);
    const { body } = await invite(owner, { email: target.email });
    expect((await setRole(target.id, to)).status).toBe(200);
    expect(await accept(body.url)).toMatchObject(changed);
    expect((await target.send('GET', '/api/me')).body.role).toBe(to);
    expect(await owner.send('POST', `${invitations}/${body.id}/resend`)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('was changed after the invitation') },
    });
  });

  test('nor is one whose role changes while somebody accepts', async () => {
    const { db } = api.current;
    const { join, owner, invite, accept, tenantId } = await own();
    const target = await join('ADMIN');
    const { body } = await invite(owner, { email: target.email });
    const { answer } = await db.transaction().execute(async (tx) => {
      await tx
        .updateTable('members')
        .set({ role: 'AUDITOR' })
        .where('tenant_id', '=', tenantId)
        .where('id', '=', target.id)
        .execute();
      const answer = accept(body.url);
      await untilLockIsAwaited(db);
      return { answer };
    });
    expect(await answer).toMatchObject(changed);
    expect((await target.send('GET', '/api/me')).body.role).toBe('AUDITOR');
  });

  test('nor is one who was removed since', async () => {
    const { join, owner, invite, accept, people } = await own();
    const target = await join('ADMIN');
    const { body } = await invite(owner, { email: target.email });
    await owner.send('DELETE', `${members}/${target.id}`);
    expect(await accept(body.url)).toMatchObject(changed);
    expect(await people()).toHaveLength(1);
  });

  test('nor where whoever invited may not give the role any more', async () => {
    const { join, invite, accept, setRole } = await own();
    const [admin, target] = [await join('ADMIN'), await join('ADMIN')];
    const { body } = await invite(admin, { email: target.email });
    await setRole(admin.id, 'AUDITOR');
    expect((await accept(body.url)).status).toBe(403);
    expect((await target.send('GET', '/api/me')).status).toBe(200);
  });

  test('a key invites to a membership, and the log says which', async () => {
    const { join, accept, send, management_key: key, log } = await own();
    const target = await join('DEVELOPER');
    const made = await send('POST', '/tenants/self/invitations', { key, body: { email: target.email } });
    expect(made).toMatchObject({ status: 201, body: { role: 'DEVELOPER', member_id: target.id } });
    expect((await accept(made.body.url)).status).toBe(204);
    expect(await log(target.id)).toMatchObject([{ detail: { invited_by: made.body.created_by } }]);
  });

  test('the last OWNER comes back, and is owner_id from then on', async () => {
    const { db, browser } = api.current;
    const { owner, owner_id, invite, accept, people, send, management_key: key } = await own();
    const email = `${randomUUID()}@example.com`;
    await db.updateTable('users').set({ email }).where('id', '=', owner_id).execute();
    const before = await send('GET', '/tenants/self', { key });
    const { body } = await invite(owner, { email });
    const back = browser();
    expect((await accept(body.url, back)).status).toBe(204);
    const { user } = (await back.send('GET', '/api/me')).body;
    expect(await people()).toEqual([{ user_id: user.id, role: 'OWNER' }]);
    const after = await send('GET', '/tenants/self', { key });
    expect(after.body).toMatchObject({ owner_id: user.id, modified_by: user.id });
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
    expect((await owner.send('GET', '/api/me')).status).toBe(401);
  });

  test('where the member accepts, still signed in, nothing changes and the link is used up', async () => {
    const { join, owner, invite, accept, people } = await own();
    const target = await join('ADMIN');
    const before = await people();
    const { body } = await invite(owner, { email: target.email });
    const { cookie } = target.state;
    const accepted = await accept(body.url, target);
    expect([accepted.status, accepted.headers.get('set-cookie')]).toEqual([204, null]);
    expect(target.state.cookie).toBe(cookie);
    expect((await target.send('GET', '/api/me')).body.role).toBe('ADMIN');
    expect(await people()).toEqual(before);
    expect((await accept(body.url)).status).toBe(401);
  });

  test('who accepts while signed in to another Tenant, as the member, is signed in here', async () => {
    const { member, signedIn } = api.current;
    const { join, owner, invite, accept, people, tenantId } = await own();
    const elsewhere = await own();
    const target = await join('ADMIN');
    await member('AUDITOR', { tenantId: elsewhere.tenantId, userId: target.userId });
    const there = await signedIn(target.userId, elsewhere.tenantId);
    const before = await people();
    expect((await accept((await invite(owner, { email: target.email })).body.url, there)).status).toBe(204);
    expect((await there.send('GET', '/api/me')).body).toMatchObject({ role: 'ADMIN', tenant: { id: tenantId } });
    expect(await people()).toEqual(before);
  });

  test('who is another member of the Tenant takes over nothing, and nothing ends', async () => {
    const { db } = api.current;
    const { join, owner, invite, accept, people } = await own();
    const [target, other] = [await join('ADMIN'), await join('AUDITOR')];
    const { body } = await invite(owner, { email: target.email });
    await db.updateTable('users').set({ email: target.email }).where('id', '=', other.userId).execute();
    const before = await people();
    expect((await accept(body.url, other)).status).toBe(409);
    expect(await people()).toEqual(before);
    for (const person of [target, other]) expect((await person.send('GET', '/api/me')).status).toBe(200);
    expect((await owner.send('GET', `${invitations}/${body.id}`)).status).toBe(200);
  });

  test('a member through a group alone takes the membership over, and no longer depends on the group', async () => {
    const { db } = api.current;
    const { join, owner, invite, accept, people } = await own();
    const [target, other] = [await join('DEVELOPER'), await join('AUDITOR')];
    const { body } = await invite(owner, { email: target.email });
    await db.updateTable('users').set({ email: target.email }).where('id', '=', other.userId).execute();
    await db.updateTable('members').set({ source: 'group' }).where('id', '=', other.id).execute();
    expect((await accept(body.url, other)).status).toBe(204);
    expect((await other.send('GET', '/api/me')).body.role).toBe('DEVELOPER');
    expect((await target.send('GET', '/api/me')).status).toBe(401);
    expect(await people()).toHaveLength(2);
    const { source } = await db
      .selectFrom('members')
      .select('source')
      .where('id', '=', other.id)
      .executeTakeFirstOrThrow();
    expect(source).toBe('person');
  });

  const keyWith = async ({ send, management_key: key }: Awaited<ReturnType<typeof own>>, permissions: string[]) => {
    const application = { name: 'A', type: 'management', permissions };
    const made = await send('POST', '/applications', { key, body: application });
    expect(made.status).toBe(201);
    return made.body.key as string;
  };

  test('who may give a role sends an invitation of it again, also where they may not give that of an AUDITOR', async () => {
    const { db } = api.current;
    const here = await own();
    const mayInvite = ['tenant:invitation:create', 'tenant:invitation:update'];
    const key = await keyWith(here, [...permissionsOf('DEVELOPER'), ...mayInvite]);
    const body = { email: 'new@example.com', role: 'DEVELOPER' };
    const made = await here.send('POST', '/tenants/self/invitations', { key, body });
    expect(made.status).toBe(201);
    const past = new Date(0).toISOString();
    await db.updateTable('invitations').set({ expires_at: past }).where('id', '=', made.body.id).execute();
    expect((await here.send('POST', `/tenants/self/invitations/${made.body.id}/resend`, { key })).status).toBe(200);
  });

  test('who may not read members learns of no address whose it is', async () => {
    const here = await own();
    const target = await here.join('OWNER');
    const key = await keyWith(here, ['tenant:invitation:create']);
    const refusal = async (email: string) => {
      const body = { email, role: 'AUDITOR' };
      const { status, body: problem } = await here.send('POST', '/tenants/self/invitations', { key, body });
      return [status, problem.detail];
    };
    const ofMember = await refusal(target.email);
    expect(ofMember[0]).toBe(403);
    expect(ofMember).toEqual(await refusal('nobody@example.com'));
  });

  test('of ten who accept at once one takes the membership over', async () => {
    const { join, owner, invite, accept, people } = await own();
    const target = await join('ADMIN');
    const { body } = await invite(owner, { email: target.email });
    const statuses = (await Promise.all(Array.from({ length: 10 }, () => accept(body.url)))).map(
      ({ status }) => status,
    );
    expect(statuses.sort()).toEqual([204, ...Array.from({ length: 9 }, () => 401)]);
    expect(await people()).toHaveLength(2);
  });

  test('a link that is sent again does the same', async () => {
    const { join, owner, invite, accept } = await own();
    const target = await join('ADMIN');
    const { body } = await invite(owner, { email: target.email });
    const again = await owner.send('POST', `${invitations}/${body.id}/resend`);
    expect(again).toMatchObject({ status: 200, body: { member_id: target.id } });
    expect((await accept(again.body.url)).status).toBe(204);
    expect((await target.send('GET', '/api/me')).status).toBe(401);
  });

  test('an invitation of the version before, which names no membership, makes one more member', async () => {
    const { db, pepper, browser } = api.current;
    const { join, tenantId, people } = await own();
    const target = await join('ADMIN');
    const token = generateSecret();
    const invitation = { tenantId, email: target.email, role: 'AUDITOR', secretHash: hashKey(pepper, token) } as const;
    await insertInvitation(db, { ...invitation, createdBy: null });
    expect((await browser().send('POST', '/api/invitations/accept', { body: { token } })).status).toBe(204);
    expect(await people()).toHaveLength(3);
    expect((await target.send('GET', '/api/me')).body.role).toBe('ADMIN');
  });

  test('a member of another Tenant with the address is invited like anybody', async () => {
    const [here, elsewhere] = [await own(), await own()];
    const there = await elsewhere.join('ADMIN');
    const { body } = await here.invite(here.owner, { email: there.email });
    expect(body).toMatchObject({ role: 'AUDITOR' });
    expect(body).not.toHaveProperty('member_id');
  });
});

describe('where an issuer is set', () => {
  const api = useStack((stack) => startTestIssuers(stack));
  const own = () => ownTenant(api.current);

  /** Somebody with an account at an issuer, who has come back from it. */
  async function visitor(email: string) {
    const { two, browser } = api.current;
    const subject = randomUUID();
    two.account = subject;
    two.accounts.set(subject, { email, email_verified: true });
    const person = browser();
    await visit(person, 'two');
    return person;
  }

  test('a member who signed in by links gets an account there, and with it has an identity', async () => {
    const { owner, join, invite, send, management_key: key, people } = await own();
    const target = await join('DEVELOPER');
    const identityOf = async (userId: string) => {
      const { body } = await send('GET', `/tenants/self/members?user_id=${userId}`, { key });
      return body.data[0].has_identity;
    };
    expect(await identityOf(target.userId)).toBe(false);
    const { body } = await invite(owner, { email: target.email });
    const person = await visitor(target.email);
    expect((await finish(person, { invitation: secretOf(body.url) })).status).toBe(204);
    const { user, role } = (await person.send('GET', '/api/me')).body;
    expect([role, await identityOf(user.id)]).toEqual(['DEVELOPER', true]);
    expect((await target.send('GET', '/api/me')).status).toBe(401);
    expect(await people()).toHaveLength(2);
    expect((await invite(owner, { email: target.email })).status).toBe(409); // now the address has an identity
  });

  test('the link alone gives nothing, and neither does a sign-in by link', async () => {
    const { browser } = api.current;
    const { owner, join, invite, accept } = await own();
    const target = await join('DEVELOPER');
    const { body } = await invite(owner, { email: target.email });
    const first = {
      status: 401,
      body: { detail: 'Sign in with an identity provider first. Then accept the invitation' },
    };
    expect(await accept(body.url, browser())).toMatchObject(first);
    expect(await accept(body.url, target)).toMatchObject(first);
    const fresh = (await invite(owner, { email: `${randomUUID()}@example.com` })).body;
    expect(await accept(fresh.url, target)).toMatchObject(first);
    expect((await owner.send('GET', `${invitations}/${body.id}`)).status).toBe(200);
  });

  test('whoever has an identity accepts by a sign-in that they have', async () => {
    const { tenantId } = api.current;
    const here = await own();
    const email = `${randomUUID()}@example.com`;
    const person = await visitor(email);
    const elsewhere = await api.current.invitationTo(email, { tenantId });
    await finish(person, { invitation: elsewhere });
    const target = await here.join('ADMIN', email);
    const { body } = await here.invite(here.owner, { email });
    expect((await here.accept(body.url, person)).status).toBe(204);
    expect((await person.send('GET', '/api/me')).body).toMatchObject({ role: 'ADMIN', tenant: { id: here.tenantId } });
    expect((await target.send('GET', '/api/me')).status).toBe(401);
  });

  test('an account whose address is not verified takes over nothing', async () => {
    const { two, browser } = api.current;
    const { owner, join, invite } = await own();
    const target = await join('ADMIN');
    const { body } = await invite(owner, { email: target.email });
    const subject = randomUUID();
    two.account = subject;
    two.accounts.set(subject, { email: target.email, email_verified: false });
    const person = browser();
    await visit(person, 'two');
    expect((await finish(person, { invitation: secretOf(body.url) })).status).toBe(403);
    expect((await target.send('GET', '/api/me')).status).toBe(200);
  });
});
