import { randomUUID } from 'node:crypto';
import { type Role, roles } from '@sluice/access';
import { slow, useStack } from '@sluice/testing';
import { shareTestConsole, startTestConsole } from '../../testing/test-console.ts';
import { isoDate, startTestManagement, uuidText } from '../../testing/test-management.ts';
import { secretOf } from './invitation.url.ts';

const api = useStack(() => shareTestConsole());
const invitations = '/tenants/self/invitations';
const randomEmail = () => `${randomUUID()}@example.com`;

async function ownTenant() {
  const tenant = await api.current.anotherTenant('Own');
  const owner = await api.current.signedIn(tenant.owner_id, tenant.tenant_id);
  const join = (role: Role) => api.current.member(role, { tenantId: tenant.tenant_id });
  const invite = (body: object, options = {}) =>
    api.current.send('POST', invitations, { key: tenant.management_key, body, ...options });
  const by = (method: string, path = '', options = {}) =>
    api.current.send(method, invitations + path, { key: tenant.management_key, ...options });
  return { ...tenant, owner, join, invite, by };
}

const accept = (token: string, browser = api.current.browser()) =>
  browser.send('POST', '/api/invitations/accept', { body: { token } }).then((answer) => ({ ...answer, browser }));

const expire = (id: string) =>
  api.current.db
    .updateTable('invitations')
    .set({ expires_at: new Date(0).toISOString() })
    .where('id', '=', id)
    .execute();

test('an invitation is made, shown without its link, and accepted once', async () => {
  const { db } = api.current;
  const { invite, by, tenant_id: tenantId, application_id } = await ownTenant();
  const made = await invite({ email: 'Ada@Example.COM' });
  const shown = {
    id: uuidText,
    tenant_id: tenantId,
    email: 'ada@example.com',
    role: 'AUDITOR',
    status: 'PENDING',
    expires_at: isoDate,
    acceptable: true,
    created_by: application_id,
    created_at: isoDate,
  };
  expect(made).toMatchObject({
    status: 201,
    body: { ...shown, url: expect.stringMatching(/^https:\/\/console\.test\/invitation#[0-9A-Za-z]{43}$/) },
  });
  expect(made.headers.get('location')).toBe(`${invitations}/${made.body.id}`);
  const hours = (Date.parse(made.body.expires_at) - Date.now()) / 3600_000;
  expect(hours).toBeGreaterThan(71.9);
  expect(hours).toBeLessThan(72.1);
  expect((await by('GET')).body.data).toEqual([shown]);
  expect((await by('GET', `/${made.body.id}`)).body).toEqual(shown);

  const { status, browser } = await accept(secretOf(made.body.url));
  expect(status).toBe(204);
  const me = (await browser.send('GET', '/api/me')).body;
  expect(me).toMatchObject({ user: { email: 'ada@example.com' }, tenant: { id: tenantId }, role: 'AUDITOR' });
  expect((await accept(secretOf(made.body.url))).status).toBe(401);
  expect((await by('GET', `/${made.body.id}`)).status).toBe(404);
  const log = await db
    .selectFrom('audit_log')
    .select(['operation', 'actor_type', 'actor_id'])
    .where('entity_id', '=', made.body.id)
    .orderBy('at')
    .execute();
  expect(log).toEqual([
    { operation: 'create', actor_type: 'application', actor_id: application_id },
    { operation: 'accept', actor_type: 'user', actor_id: me.user.id },
  ]);
});

test('who invites twice hears that the address is taken by an invitation that is pending', async () => {
  const { invite, by } = await ownTenant();
  const email = randomEmail();
  const { body } = await invite({ email });
  expect(await invite({ email: email.toUpperCase() })).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('already has an invitation') },
  });
  await expire(body.id);
  expect((await by('GET', '?status=EXPIRED')).body.data).toMatchObject([{ id: body.id, status: 'EXPIRED' }]);
  expect((await by('GET', '?status=PENDING')).body.data).toEqual([]);
  const again = await invite({ email });
  expect(again.status).toBe(201);
  expect((await by('POST', `/${body.id}/resend`)).status).toBe(409);
  expect((await accept(secretOf(body.url))).status).toBe(401);
  expect((await accept(secretOf(again.body.url))).status).toBe(204);
  expect((await by('GET', '?status=OPEN')).status).toBe(400);
});

test('only ASCII letters lose their case, as in what an issuer says, so that no two addresses become one', async () => {
  const { invite } = await ownTenant();
  expect((await invite({ email: 'ÄDA\u212A@Example.com' })).body.email).toBe('Äda\u212A@example.com');
  expect((await invite({ email: 'ädak@example.com' })).status).toBe(201);
});

test.each([
  {},
  { email: 'no address' },
  { email: 'a@b@c.de' },
  { email: 'a@b' },
  { email: 'a@b.' },
  { email: 'a@.b' },
  { email: '@b.de' },
  { email: 'a b@c.de' },
  { email: 'a\u200b@c.de' },
  { email: 'a\u202e@c.de' },
  { email: '\ufeffa@c.de' },
  { email: 'a\u00ad@c.de' },
  { email: 'a@c\u200b.de' },
  { email: 'a\u0007@c.de' },
  { email: `${'x'.repeat(250)}@example.com` },
  { email: 5 },
  { email: randomEmail(), role: 'KING' },
])('the body %j is 400', async (body) => {
  expect((await api.current.send('POST', invitations, { body })).status).toBe(400);
});

test('the error of an e-mail address says what is allowed', async () => {
  const { body } = await api.current.send('POST', invitations, { body: { email: 'ada' } });
  expect(body.errors).toEqual({ email: ['must be an e-mail address, such as ada@example.com'] });
});

test.each(['ada@localhost', "o'hara+x@sub.example.co.uk", 'jörg@bücher.example'])('%s is invited', async (email) => {
  const { invite } = await ownTenant();
  expect((await invite({ email })).status).toBe(201);
});

test('a link that is made anew replaces the old one', async () => {
  const { invite, by } = await ownTenant();
  const made = (await invite({ email: randomEmail() })).body;
  await expire(made.id);
  const sent = await by('POST', `/${made.id}/resend`);
  expect(sent).toMatchObject({ status: 200, body: { id: made.id, status: 'PENDING', modified_at: isoDate } });
  expect(sent.body.url).not.toBe(made.url);
  expect((await accept(secretOf(made.url))).status).toBe(401);
  expect((await accept(secretOf(sent.body.url))).status).toBe(204);
});

test('an invitation that is deleted is refused from then on', async () => {
  const { invite, by } = await ownTenant();
  const made = (await invite({ email: randomEmail() })).body;
  expect((await by('DELETE', `/${made.id}`)).status).toBe(204);
  expect((await accept(secretOf(made.url))).status).toBe(401);
  expect((await by('DELETE', `/${made.id}`)).status).toBe(404);
});

test('under an idempotency key the link is told again only while it is good', async () => {
  const { invite, by } = await ownTenant();
  const body = { email: randomEmail() };
  const headers = { 'SVC-IDEMPOTENCY-KEY': 'a' };
  const made = await invite(body, { headers });
  expect((await invite(body, { headers })).body).toEqual(made.body);
  const sent = await by('POST', `/${made.body.id}/resend`, { headers });
  const { url: _, ...withoutLink } = made.body;
  expect((await invite(body, { headers })).body).toEqual(withoutLink);
  expect((await by('POST', `/${made.body.id}/resend`, { headers })).body).toEqual(sent.body);
  await accept(secretOf(sent.body.url));
  expect((await by('POST', `/${made.body.id}/resend`, { headers })).body).not.toHaveProperty('url');
});

describe('nobody invites to more than they hold:', () => {
  test.each(roles)('%s', async (role) => {
    const { join, owner } = await ownTenant();
    const actor = await join(role);
    for (const to of roles) {
      const { status } = await actor.send('POST', `/api${invitations}`, { body: { email: randomEmail(), role: to } });
      const may = role === 'OWNER' || (role === 'ADMIN' && to !== 'OWNER');
      expect([to, status]).toEqual([to, may ? 201 : 403]);
      const made = (await owner.send('POST', `/api${invitations}`, { body: { email: randomEmail(), role: to } })).body;
      const resent = await actor.send('POST', `/api${invitations}/${made.id}/resend`);
      expect([to, resent.status]).toEqual([to, may ? 200 : 403]);
      const deleted = await actor.send('DELETE', `/api${invitations}/${made.id}`);
      expect([to, deleted.status]).toEqual([to, may ? 204 : 403]);
    }
  });

  test('a key deletes no invitation to the role OWNER', async () => {
    const { owner, by } = await ownTenant();
    const invited = { email: randomEmail(), role: 'OWNER' };
    const { id } = (await owner.send('POST', `/api${invitations}`, { body: invited })).body;
    expect((await by('DELETE', `/${id}`)).status).toBe(403);
    expect((await by('GET', `/${id}`)).status).toBe(200);
  });

  test('a key invites no OWNER; sending again needs the permission to invite, too', async () => {
    const { invite, by, management_key } = await ownTenant();
    expect((await invite({ email: randomEmail(), role: 'OWNER' })).status).toBe(403);
    const made = (await invite({ email: randomEmail() })).body;
    const permissions = ['tenant:invitation:update', 'log:read'];
    const { key } = await api.current.application({ type: 'management', permissions }, { key: management_key });
    expect(await by('POST', `/${made.id}/resend`, { key })).toMatchObject({
      status: 403,
      body: { detail: 'This request also needs the permission tenant:invitation:create' },
    });
  });
});

slow('0.6 s')('a Tenant has at most a hundred that are pending, however many ask at once', async () => {
  const { invite } = await ownTenant();
  const answers = await Promise.all(Array.from({ length: 110 }, () => invite({ email: randomEmail() })));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array.from({ length: 100 }, () => 201), ...Array.from({ length: 10 }, () => 429)]);
});

describe('accepting', () => {
  test('of twenty at once one becomes a member; links that are not good are answered alike', async () => {
    const { invite } = await ownTenant();
    const made = (await invite({ email: randomEmail() })).body;
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => accept(secretOf(made.url))))).map(
      ({ status }) => status,
    );
    expect(statuses.sort()).toEqual([204, ...Array.from({ length: 19 }, () => 401)]);
    const expired = (await invite({ email: randomEmail() })).body;
    await expire(expired.id);
    const closed = await ownTenant();
    const ofClosed = (await closed.invite({ email: randomEmail() })).body;
    await api.current.send('DELETE', '/tenants/self', { key: closed.management_key });
    for (const token of [made.url, expired.url, ofClosed.url].map(secretOf).concat('x', 'x'.repeat(43))) {
      const { status, body, headers } = await accept(token);
      expect([status, body.detail, headers.get('set-cookie')]).toEqual([
        401,
        'This link or key is not valid. It may have been used already, or it may have expired',
        null,
      ]);
    }
  });

  test('a link gives nothing of a person whom another Tenant knows by that address', async () => {
    const [one, other] = [await ownTenant(), await ownTenant()];
    const email = randomEmail();
    const alice = (await accept(secretOf((await one.invite({ email, role: 'ADMIN' })).body.url))).browser;
    const taken = (await accept(secretOf((await other.invite({ email })).body.url))).browser;
    const [me, they] = [(await alice.send('GET', '/api/me')).body, (await taken.send('GET', '/api/me')).body];
    expect(they.user.id).not.toBe(me.user.id);
    expect((await taken.send('POST', '/api/sign-in/tenant', { body: { tenant_id: one.tenant_id } })).status).toBe(404);
  });

  test('whoever is signed in with the address accepts as the same person, and is a member of two Tenants', async () => {
    const [one, other] = [await ownTenant(), await ownTenant()];
    const email = randomEmail();
    const { browser } = await accept(secretOf((await one.invite({ email, role: 'ADMIN' })).body.url));
    const { cookie } = browser.state;
    const userId = (await browser.send('GET', '/api/me')).body.user.id;
    expect((await accept(secretOf((await other.invite({ email })).body.url), browser)).status).toBe(204);
    expect((await browser.send('GET', '/api/me')).body).toMatchObject({
      user: { id: userId },
      tenant: { id: other.tenant_id },
    });
    expect((await browser.send('GET', '/api/me', { headers: { Cookie: cookie } })).status).toBe(401);
    expect((await browser.send('POST', '/api/sign-in/tenant', { body: { tenant_id: one.tenant_id } })).status).toBe(
      204,
    );
    expect((await browser.send('GET', '/api/me')).body).toMatchObject({ role: 'ADMIN', user: { id: userId } });
  });

  test('a member keeps the role, and the invitation stays; one whom a group made a member gets it', async () => {
    const { db } = api.current;
    const { invite, join, by } = await ownTenant();
    const person = await join('ADMIN');
    const email = randomEmail();
    const made = (await invite({ email })).body;
    await db.updateTable('users').set({ email }).where('id', '=', person.userId).execute();
    expect((await accept(secretOf(made.url), person)).status).toBe(409);
    expect((await person.send('GET', '/api/me')).body.role).toBe('ADMIN');
    expect((await by('GET', `/${made.id}`)).status).toBe(200);
    await db.updateTable('members').set({ source: 'group' }).where('id', '=', person.id).execute();
    expect((await accept(secretOf(made.url), person)).status).toBe(204);
    expect((await person.send('GET', '/api/me')).body.role).toBe('AUDITOR');
    const row = await db.selectFrom('members').select('source').where('id', '=', person.id).executeTakeFirst();
    expect(row?.source).toBe('person');
  });

  test('whoever was removed is a member again, with the role of the invitation', async () => {
    const { db } = api.current;
    const { invite, join, owner, tenant_id: tenantId } = await ownTenant();
    const elsewhere = await ownTenant();
    const person = await join('ADMIN');
    const email = randomEmail();
    await db.updateTable('users').set({ email }).where('id', '=', person.userId).execute();
    const away = await api.current.member('ADMIN', { tenantId: elsewhere.tenant_id, userId: person.userId });
    await owner.send('DELETE', `/api/tenants/self/members/${person.id}`);
    expect((await accept(secretOf((await invite({ email })).body.url), away)).status).toBe(204);
    expect((await away.send('GET', '/api/me')).body).toMatchObject({
      tenant: { id: tenantId },
      role: 'AUDITOR',
      user: { id: person.userId },
    });
    expect(await db.selectFrom('former_members').select('user_id').where('tenant_id', '=', tenantId).execute()).toEqual(
      [],
    );
  });
});

describe('without sign-in by link', () => {
  const strict = useStack((stack) => startTestConsole(stack, { CONSOLE_LINK_SIGN_IN: 'false' }));

  test('whoever is not signed in hears nothing of the link, and whoever has another address is refused', async () => {
    const { send, browser, db, member, tenant } = strict.current;
    const email = randomEmail();
    const made = (await send('POST', invitations, { body: { email } })).body;
    for (const token of [secretOf(made.url), 'x'.repeat(43)]) {
      expect(await accept(token, browser())).toMatchObject({
        status: 401,
        body: { detail: 'Sign in with an identity provider first. Then accept the invitation' },
      });
    }
    const byKey = browser();
    await byKey.signIn({ key: tenant.management_key });
    expect((await accept(secretOf(made.url), byKey)).status).toBe(401);
    void member;
    expect((await send('GET', `${invitations}/${made.id}`)).status).toBe(200);
    expect(await db.selectFrom('users').select('id').where('email', '=', email).execute()).toEqual([]);
  });
});

test('without a console there is no link', async () => {
  await using stack = new AsyncDisposableStack();
  const { send } = await startTestManagement(stack);
  const made = await send('POST', invitations, { body: { email: randomEmail() } });
  expect([made.status, made.body.url]).toEqual([201, undefined]);
});
