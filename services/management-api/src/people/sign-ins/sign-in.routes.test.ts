import { randomUUID } from 'node:crypto';
import { permissionsOf, roles } from '@sluice/access';
import { type Answer, slow, useStack } from '@sluice/testing';
import { shareTestConsole, startTestConsole } from '../../testing/test-console.ts';
import { isoDate, uuidText } from '../../testing/test-management.ts';

const api = useStack(() => shareTestConsole());

const logOf = (entityId: string) =>
  api.current.db
    .selectFrom('audit_log')
    .select(['operation', 'entity_type', 'actor_type', 'actor_id', 'message', 'detail'])
    .where('entity_id', '=', entityId)
    .orderBy('at')
    .execute();

test('a person signs in by a link, is told who they are, and signs out', async () => {
  const { tenant, link, browser } = api.current;
  const { state, send, signIn } = browser();
  expect(await send('GET', '/api/me')).toMatchObject({ status: 401, body: { detail: 'You are not signed in' } });
  const given = await signIn({ secret: await link(tenant.tenant_id, tenant.owner_id) });
  expect([given.status, given.body, given.headers.get('svc-revocation')]).toEqual([
    204,
    '',
    expect.stringMatching(/^change=/),
  ]);
  expect(given.headers.get('set-cookie')).toMatch(
    /^__Host-sluice=[0-9A-Za-z]{43}; Max-Age=43200; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
  );
  const me = await send('GET', '/api/me');
  expect(me).toMatchObject({
    status: 200,
    body: {
      user: { id: tenant.owner_id },
      tenant: { id: tenant.tenant_id, name: 'Tenant' },
      tenants: [{ id: tenant.tenant_id, name: 'Tenant', role: 'OWNER' }],
      role: 'OWNER',
      permissions: permissionsOf('OWNER'),
      expires_at: isoDate,
    },
  });
  expect(me.headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect(Date.parse(me.body.expires_at) - Date.now()).toBeGreaterThan(11.9 * 3600_000);
  const { cookie } = state;
  const out = await send('POST', '/api/sign-out');
  expect([out.status, state.cookie]).toEqual([204, '']);
  expect(out.headers.get('set-cookie')).toMatch(
    /^__Host-sluice=; Max-Age=0; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
  );
  expect((await send('GET', '/api/me', { headers: { Cookie: cookie } })).status).toBe(401);
  const ofOwner = { entity_type: 'user', actor_type: 'user', actor_id: tenant.owner_id };
  expect(await logOf(tenant.owner_id)).toEqual([
    { ...ofOwner, operation: 'sign_in', message: 'User signed in', detail: { sign_in_id: uuidText } },
    { ...ofOwner, operation: 'update', message: 'Signed out', detail: { sign_in_ids: [uuidText] } },
  ]);
});

test('a management key is exchanged for a sign-in that acts as its Application and ends with the key', async () => {
  const { application, addKey, browser, send: byKey } = api.current;
  const { id, key } = await application({
    type: 'management',
    permissions: ['application:create', 'application:read', 'proxy:read'],
  });
  const { send, signIn } = browser();
  expect((await signIn({ key })).status).toBe(204);
  const me = await send('GET', '/api/me');
  expect(me.body).toMatchObject({
    application_id: id,
    permissions: ['application:create', 'application:read', 'proxy:read'],
  });
  for (const member of ['user', 'tenants', 'role']) expect(me.body).not.toHaveProperty(member);
  const body = { name: 'B', type: 'private', permissions: ['token:read'] };
  const made = await send('POST', '/api/applications', { body, headers: { 'SVC-IDEMPOTENCY-KEY': 'a' } });
  expect([made.status, made.body.created_by, made.headers.get('location')]).toEqual([
    201,
    id,
    `/api/applications/${made.body.id}`,
  ]);
  const again = await send('POST', '/api/applications', { body, headers: { 'SVC-IDEMPOTENCY-KEY': 'a' } });
  expect([again.body, again.headers.get('location')]).toEqual([made.body, `/api/applications/${made.body.id}`]);
  expect(await logOf(made.body.id)).toMatchObject([{ operation: 'create', actor_type: 'application', actor_id: id }]);
  expect((await send('DELETE', `/api/applications/${made.body.id}`)).status).toBe(403);
  const { body: keys } = await byKey('GET', `/applications/${id}/keys`);
  await addKey(id);
  expect((await byKey('DELETE', `/applications/${id}/keys/${keys[0].id}`)).status).toBe(204);
  expect((await send('GET', '/api/me')).status).toBe(401);
});

describe('what gives no cookie', () => {
  test('a secret that is unknown, used, expired, foreign or malformed, and a key that is no management key: alike', async () => {
    const { db, tenant, anotherTenant, link, browser, application, session, send } = api.current;
    const { signIn } = browser();
    const used = await link(tenant.tenant_id, tenant.owner_id);
    expect((await signIn({ secret: used })).status).toBe(204);
    const expired = await link(tenant.tenant_id, tenant.owner_id);
    await db
      .updateTable('sign_in_links')
      .set({ expires_at: new Date(0).toISOString() })
      .execute();
    const other = await anotherTenant('closed');
    const ofClosed = await link(other.tenant_id, other.owner_id);
    await send('DELETE', '/tenants/self', { key: other.management_key });
    const deleted = await application({ type: 'management', permissions: ['proxy:read'] });
    await send('DELETE', `/applications/${deleted.id}`);
    const bodies = [
      ...[used, expired, ofClosed, 'x', 'x'.repeat(43)].map((secret) => ({ secret })),
      ...[deleted.key, other.management_key, (await application()).key, (await session()).session_key, 'x'].map(
        (key) => ({ key }),
      ),
      { secret: tenant.management_key },
    ];
    const answers: Answer[] = [];
    for (const body of bodies) answers.push(await browser().signIn(body));
    for (const { status, headers, body } of answers) {
      expect([status, headers.get('set-cookie'), body.detail]).toEqual([
        401,
        null,
        'This link or key is not valid. It may have been used already, or it may have expired',
      ]);
    }
  });

  test('a link that a mail scanner follows, or that two use at once', async () => {
    const { tenant, link, browser } = api.current;
    const secret = await link(tenant.tenant_id, tenant.owner_id);
    for (const path of ['/api/sign-in', `/api/sign-in?secret=${secret}`]) {
      const { status, headers } = await browser().send('GET', path);
      expect([status, headers.get('set-cookie')]).toEqual([405, null]);
    }
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser().signIn({ secret })));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 19 }, () => 401)]);
  });

  test.each([{}, { secret: 'a', key: 'b' }, { secret: '' }, { secret: 1 }, { key: null }])(
    'the body %j is 400',
    async (body) => {
      expect((await api.current.browser().signIn(body)).status).toBe(400);
    },
  );

  test('links where the setting does not allow them; keys are exchanged always', async () => {
    await using stack = new AsyncDisposableStack();
    const { tenant, link, browser } = await startTestConsole(stack, { CONSOLE_LINK_SIGN_IN: 'false' });
    expect((await browser().signIn({ secret: await link(tenant.tenant_id, tenant.owner_id) })).status).toBe(401);
    expect((await browser().signIn({ key: tenant.management_key })).status).toBe(204);
  });
});

describe('the one that came along', () => {
  test('ends when another is given, and a cookie that somebody planted gives nothing afterwards', async () => {
    const { tenant, browser, signedIn } = api.current;
    const planted = await signedIn(tenant.owner_id);
    const { state, signIn, send } = browser();
    state.cookie = planted.state.cookie;
    expect((await signIn({ key: tenant.management_key })).status).toBe(204);
    expect(state.cookie).not.toBe(planted.state.cookie);
    expect((await send('GET', '/api/me')).status).toBe(200);
    expect((await planted.send('GET', '/api/me')).status).toBe(401);
  });

  test('two cookies of the name are 401, even where one is good, and both are as they were', async () => {
    const { tenant, signedIn } = api.current;
    const { state, send } = await signedIn(tenant.owner_id);
    const { cookie } = state;
    for (const both of [`${cookie}; __Host-sluice=x`, `__Host-sluice=x; ${cookie}`, `${cookie}; ${cookie}`]) {
      expect((await send('GET', '/api/me', { headers: { Cookie: both } })).status).toBe(401);
    }
    expect((await send('GET', '/api/me')).status).toBe(200);
  });
});

test('operations by cookie are those of the management API, at the host of the console only', async () => {
  const { tenant, signedIn, url } = api.current;
  const { state, send } = await signedIn(tenant.owner_id);
  const { body } = await send('GET', '/api/applications');
  expect(body).toEqual((await api.current.send('GET', '/applications')).body);
  expect(body.data.length).toBeGreaterThan(0);
  for (const host of ['api.test', 'console.test.evil.test', 'x.console.test']) {
    const { status } = await send('GET', '/api/applications', { headers: { Host: host } });
    expect([host, status]).toEqual([host, 404]);
  }
  expect((await send('GET', '/applications')).status).toBe(404);
  expect((await send('GET', '/api/applications', { key: tenant.management_key, headers: { Cookie: '' } })).status).toBe(
    401,
  );
  expect(
    (await send('GET', '/applications', { headers: { Host: new URL(url).host, Cookie: state.cookie } })).status,
  ).toBe(401);
  for (const path of ['/api/sessions', '/api/sessions/authorize']) {
    expect((await send('POST', path, { body: {} })).status).toBeGreaterThanOrEqual(404);
  }
});

describe('another Tenant', () => {
  test('of the person gets a sign-in, and the former one ends; one of others is not found', async () => {
    const { tenant, stranger, db, member, signedIn } = api.current;
    const { userId, send, state } = await member('AUDITOR');
    const { cookie } = state;
    const choose = (tenant_id: string) => send('POST', '/api/sign-in/tenant', { body: { tenant_id } });
    expect((await choose(stranger.tenant_id)).status).toBe(404);
    expect((await choose(randomUUID())).status).toBe(404);
    expect((await send('GET', '/api/me')).body.tenant.id).toBe(tenant.tenant_id);
    await db.insertInto('members').values({ tenant_id: stranger.tenant_id, user_id: userId, role: 'ADMIN' }).execute();
    const tenants = [
      { id: stranger.tenant_id, role: 'ADMIN' },
      { id: tenant.tenant_id, role: 'AUDITOR' },
    ];
    const before = (await send('GET', '/api/me')).body;
    expect(before.tenants).toHaveLength(2);
    expect(before.tenants).toEqual(expect.arrayContaining(tenants.map((each) => expect.objectContaining(each))));
    expect((await choose(stranger.tenant_id)).status).toBe(204);
    const { body: me } = await send('GET', '/api/me');
    expect(me).toMatchObject({ tenant: { id: stranger.tenant_id }, role: 'ADMIN', tenants: before.tenants });
    expect((await send('GET', '/api/me', { headers: { Cookie: cookie } })).status).toBe(401);

    const elsewhere = await signedIn(userId);
    expect((await send('POST', '/api/sign-out', { body: { all: true } })).status).toBe(204);
    expect((await elsewhere.send('GET', '/api/me')).status).toBe(401);
  });

  test('is nothing that a key could enter', async () => {
    const { tenant, stranger, browser } = api.current;
    const { send, signIn } = browser();
    await signIn({ key: tenant.management_key });
    const { status } = await send('POST', '/api/sign-in/tenant', { body: { tenant_id: stranger.tenant_id } });
    expect(status).toBe(403);
  });
});

describe('the list of sign-ins', () => {
  test("shows one's own; everybody's to who may read members, and who may update members ends them", async () => {
    const { member, send: byKey } = api.current;
    const [owner, developer, auditor] = [await member('OWNER'), await member('DEVELOPER'), await member('AUDITOR')];
    const own = (await developer.send('GET', '/api/sign-ins')).body;
    expect(own.data).toEqual([
      {
        id: uuidText,
        user_id: developer.userId,
        created_at: isoDate,
        last_used_at: isoDate,
        expires_at: isoDate,
        current: true,
      },
    ]);
    const [{ id }] = own.data;
    const all = (await auditor.send('GET', '/api/sign-ins?size=100')).body.data;
    const ids = all.map((each: { user_id?: string }) => each.user_id);
    expect(ids).toEqual(expect.arrayContaining([owner.userId, developer.userId, auditor.userId]));
    expect(JSON.stringify(all)).not.toContain(auditor.state.cookie.split('=')[1]);

    const auditors = all.find((each: { user_id?: string }) => each.user_id === auditor.userId).id;
    expect((await developer.send('DELETE', `/api/sign-ins/${auditors}`)).status).toBe(404); // it may not know of it
    expect((await auditor.send('DELETE', `/api/sign-ins/${id}`)).status).toBe(403);
    expect((await owner.send('DELETE', `/api/sign-ins/${randomUUID()}`)).status).toBe(404);
    expect((await owner.send('DELETE', '/api/sign-ins/x')).status).toBe(400);
    expect((await owner.send('DELETE', `/api/sign-ins/${id}`)).status).toBe(204);
    expect((await developer.send('GET', '/api/me')).status).toBe(401);
    expect((await auditor.send('DELETE', `/api/sign-ins/${auditors}`)).status).toBe(204); // its own
    expect((await auditor.send('GET', '/api/me')).status).toBe(401);
    expect((await byKey('GET', '/sign-ins')).status).toBe(404);
  });

  test.each(roles)('whoever ends a sign-in of another could give that role: %s', async (role) => {
    const { member, tenant, browser } = api.current;
    const actor = await member(role);
    const idOf = async ({ send }: Pick<typeof actor, 'send'>) =>
      (await send('GET', '/api/sign-ins?size=100')).body.data.find(({ current }: { current: boolean }) => current).id;
    for (const to of roles) {
      const target = await member(to);
      const { status } = await actor.send('DELETE', `/api/sign-ins/${await idOf(target)}`);
      const may = role === 'OWNER' || (role === 'ADMIN' && to !== 'OWNER');
      const shown = may ? 204 : role === 'DEVELOPER' ? 404 : 403;
      expect([to, status]).toEqual([to, shown]);
      expect((await target.send('GET', '/api/me')).status).toBe(may ? 401 : 200);
    }
    const byKey = browser();
    await byKey.signIn({ key: tenant.management_key });
    const { status } = await actor.send('DELETE', `/api/sign-ins/${await idOf(byKey)}`);
    expect(status).toBe(role === 'OWNER' || role === 'ADMIN' ? 204 : role === 'DEVELOPER' ? 404 : 403);
  });

  test("a sign-in by a key ends no OWNER's, and its own", async () => {
    const { member, tenant, browser } = api.current;
    const [owner, byKey] = [await member('OWNER'), browser()];
    await byKey.signIn({ key: tenant.management_key });
    const { data } = (await byKey.send('GET', '/api/sign-ins?size=100')).body;
    const theirs = data.find((each: { user_id?: string }) => each.user_id === owner.userId).id;
    expect((await byKey.send('DELETE', `/api/sign-ins/${theirs}`)).status).toBe(403);
    expect((await owner.send('GET', '/api/me')).status).toBe(200);
    const own = data.find(({ current }: { current: boolean }) => current).id;
    expect((await byKey.send('DELETE', `/api/sign-ins/${own}`)).status).toBe(204);
  });

  test('knows nothing of another Tenant', async () => {
    const { stranger, signedIn, member } = api.current;
    const theirs = await signedIn(stranger.owner_id, stranger.tenant_id);
    const [{ id }] = (await theirs.send('GET', '/api/sign-ins')).body.data;
    const owner = await member('OWNER');
    expect(JSON.stringify((await owner.send('GET', '/api/sign-ins?size=100')).body)).not.toContain(id);
    expect((await owner.send('DELETE', `/api/sign-ins/${id}`)).status).toBe(404);
    expect((await theirs.send('GET', '/api/me')).status).toBe(200);
  });

  slow('0.7 s')('is bounded for a key: the oldest ends', async () => {
    const { application, browser, db } = api.current;
    const { id, key } = await application({ type: 'management', permissions: ['proxy:read'] });
    const first = browser();
    await first.signIn({ key });
    for (let i = 0; i < 100; i++) expect((await browser().signIn({ key })).status).toBe(204);
    expect((await first.send('GET', '/api/me')).status).toBe(401);
    const rows = await db.selectFrom('sign_ins').select('id').where('application_id', '=', id).execute();
    expect(rows).toHaveLength(100);
  });
});
