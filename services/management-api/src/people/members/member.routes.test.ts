import { randomUUID } from 'node:crypto';
import { type Role, roles } from '@sluice/access';
import { insertTestMember, slow, untilLockIsAwaited, useStack } from '@sluice/testing';
import { shareTestConsole } from '../../testing/test-console.ts';
import { isoDate } from '../../testing/test-management.ts';

const api = useStack(() => shareTestConsole());
const members = '/tenants/self/members';

const membersOf = (tenantId: string) =>
  api.current.db.selectFrom('members').select(['user_id', 'role']).where('tenant_id', '=', tenantId).execute();

/** A Tenant of its own, whose OWNER is signed in. */
async function ownTenant() {
  const tenant = await api.current.anotherTenant('Own');
  const owner = await api.current.signedIn(tenant.owner_id, tenant.tenant_id);
  const own = { tenantId: tenant.tenant_id };
  const join = (role: Role) => api.current.member(role, own);
  const { id: ownerMember } = await api.current.db
    .selectFrom('members')
    .select('id')
    .where('tenant_id', '=', tenant.tenant_id)
    .executeTakeFirstOrThrow();
  return { ...tenant, owner, join, ownerMember };
}

test('members are listed with who they are, found by their person, in pages', async () => {
  const { db, anotherTenant, send } = api.current;
  const { tenant_id: tenantId, owner_id, management_key: key } = await anotherTenant('T');
  const { id, userId } = await insertTestMember(db, { tenantId, role: 'ADMIN', email: 'ada@example.com' });
  await db.updateTable('users').set({ first_name: 'Ada' }).where('id', '=', userId).execute();
  const ada = {
    id,
    tenant_id: tenantId,
    role: 'ADMIN',
    source: 'person',
    has_identity: false,
    user: { id: userId, email: 'ada@example.com', first_name: 'Ada' },
    created_at: isoDate,
  };
  const list = async (query: string) => (await send('GET', `${members}?${query}`, { key })).body;
  const all = await list('');
  expect(all).toEqual({
    pagination: { total_items: 2, page_number: 1, page_size: 20, total_pages: 1 },
    data: [ada, expect.objectContaining({ role: 'OWNER', user: { id: owner_id } })],
  });
  for (const query of [`user_id=${userId}`, `user_id[]=${userId}`, `user_id=${userId},${randomUUID()}`, 'size=1']) {
    expect((await list(query)).data).toEqual([ada]);
  }
  expect((await list('page=2&size=1')).data).toHaveLength(1);
  expect((await list(`user_id=${randomUUID()}`)).pagination.total_items).toBe(0);
  expect((await send('GET', `${members}?user_id=x`, { key })).status).toBe(400);
});

test('a role is changed, and counts at once where the person is signed in', async () => {
  const { send } = api.current;
  const { join, management_key: key, application_id } = await ownTenant();
  const person = await join('ADMIN');
  expect((await person.send('GET', '/api/proxies')).status).toBe(200);
  const changed = await send('PUT', `${members}/${person.id}`, { key, body: { role: 'AUDITOR' } });
  expect(changed).toMatchObject({
    status: 200,
    body: { id: person.id, role: 'AUDITOR', modified_by: application_id, modified_at: isoDate },
  });
  expect(changed.headers.get('svc-revocation')).toMatch(/^change=/);
  expect((await person.send('GET', '/api/me')).body.role).toBe('AUDITOR');
  const refused = await person.send('POST', '/api/proxies', {
    body: { name: 'P', destination_url: 'https://example.com' },
  });
  expect(refused).toMatchObject({ status: 403, body: { detail: 'This operation needs the permission proxy:create' } });
});

test('a member is removed: the sign-ins end in this Tenant, and stay in others; the audit log names the person who did it', async () => {
  const { db, member, stranger } = api.current;
  const { tenant_id: tenantId, owner, owner_id, join } = await ownTenant();
  const person = await join('ADMIN');
  const elsewhere = await member('ADMIN', { tenantId: stranger.tenant_id, userId: person.userId });
  expect((await owner.send('DELETE', `/api${members}/${person.id}`)).status).toBe(204);
  expect((await person.send('GET', '/api/me')).status).toBe(401);
  expect((await elsewhere.send('GET', '/api/me')).status).toBe(200);
  expect((await owner.send('DELETE', `/api${members}/${person.id}`)).status).toBe(404);
  const row = await db
    .selectFrom('audit_log')
    .select(['actor_type', 'actor_id', 'operation', 'detail'])
    .where('entity_id', '=', person.id)
    .execute();
  expect(row).toEqual([
    {
      actor_type: 'user',
      actor_id: owner_id,
      operation: 'delete',
      detail: { user_id: person.userId, former_role: 'ADMIN' },
    },
  ]);
  const former = await db
    .selectFrom('former_members')
    .select(['user_id', 'removed_by'])
    .where('tenant_id', '=', tenantId)
    .execute();
  expect(former).toEqual([{ user_id: person.userId, removed_by: owner_id }]);
});

test.each([{}, { role: 'owner' }, { role: 'KING' }, { role: 1 }, { role: null }])(
  'the body %j is 400',
  async (body) => {
    const { send, memberId } = api.current;
    expect((await send('PUT', `${members}/${await memberId()}`, { body })).status).toBe(400);
  },
);

describe('nobody gives or takes more than they hold:', () => {
  /** Who may change somebody from the first role to the second. */
  const mayBy: Record<Role, (from: Role, to: Role) => boolean> = {
    OWNER: () => true,
    ADMIN: (from, to) => from !== 'OWNER' && to !== 'OWNER',
    DEVELOPER: () => false,
    AUDITOR: () => false,
  };

  test.each(roles)('%s', async (role) => {
    const { join } = await ownTenant();
    const actor = await join(role);
    for (const from of roles) {
      for (const to of roles) {
        const target = await join(from);
        const { status } = await actor.send('PUT', `/api${members}/${target.id}`, { body: { role: to } });
        expect([from, to, status]).toEqual([from, to, mayBy[role](from, to) ? 200 : 403]);
      }
      const target = await join(from);
      const { status } = await actor.send('DELETE', `/api${members}/${target.id}`);
      expect([from, status]).toEqual([from, mayBy[role](from, from) ? 204 : 403]);
    }
  });

  test('a key gives and takes what it holds, and never OWNER, though it holds all; nor does who signed in with it', async () => {
    const { send, browser } = api.current;
    const { join, management_key: key } = await ownTenant();
    const byKey = browser();
    await byKey.signIn({ key });
    const [owner, admin] = [await join('OWNER'), await join('ADMIN')];
    for (const [id, role] of [
      [owner.id, 'ADMIN'],
      [owner.id, 'OWNER'],
      [admin.id, 'OWNER'],
    ]) {
      const refusal = {
        status: 403,
        body: { detail: 'Only an OWNER who signed in may do this, because it concerns the role OWNER' },
      };
      expect(await send('PUT', `${members}/${id}`, { key, body: { role } })).toMatchObject(refusal);
      expect(await byKey.send('PUT', `/api${members}/${id}`, { body: { role } })).toMatchObject(refusal);
    }
    expect((await send('DELETE', `${members}/${owner.id}`, { key })).status).toBe(403);
    expect((await send('PUT', `${members}/${admin.id}`, { key, body: { role: 'DEVELOPER' } })).status).toBe(200);
    const options = { key };
    const weak = (
      await api.current.application(
        { type: 'management', permissions: ['tenant:member:update', 'proxy:read'] },
        options,
      )
    ).key;
    const refused = await send('PUT', `${members}/${admin.id}`, { key: weak, body: { role: 'AUDITOR' } });
    expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringContaining('You lack') } });
  });
});

describe('one OWNER stays:', () => {
  test('the last one is neither demoted nor removed', async () => {
    const { owner, ownerMember } = await ownTenant();
    expect(await owner.send('PUT', `/api${members}/${ownerMember}`, { body: { role: 'ADMIN' } })).toMatchObject({
      status: 422,
      body: { title: 'Limit reached' },
    });
    expect((await owner.send('DELETE', `/api${members}/${ownerMember}`)).status).toBe(422);
    expect((await owner.send('PUT', `/api${members}/${ownerMember}`, { body: { role: 'OWNER' } })).status).toBe(200);
  });

  test('an OWNER demotes and removes itself where there is another', async () => {
    const { join } = await ownTenant();
    const [one, other] = [await join('OWNER'), await join('OWNER')];
    expect((await one.send('PUT', `/api${members}/${one.id}`, { body: { role: 'ADMIN' } })).status).toBe(200);
    expect((await one.send('GET', '/api/me')).body.role).toBe('ADMIN');
    expect((await other.send('DELETE', `/api${members}/${other.id}`)).status).toBe(204);
    expect((await other.send('GET', '/api/me')).status).toBe(401);
  });

  slow('0.8 s').each<[string, (i: number, all: number) => number, number]>([
    ['each demotes itself', (i) => i, 1],
    // Whoever is demoted before its turn demotes nobody, so that more of them stay.
    ['each demotes the next', (i, all) => (i + 1) % all, 19],
  ])('of two hundred demotions at once, %s', async (_name, targetOf, most) => {
    const { tenant_id: tenantId, join, owner, owner_id, ownerMember } = await ownTenant();
    const people = [{ ...owner, id: ownerMember, userId: owner_id }];
    while (people.length < 20) people.push(await join('OWNER'));
    const demotions = Array.from({ length: 200 }, (_, i) => {
      const [actor, target] = [people[i % 20], people[targetOf(i % 20, 20)]];
      return actor?.send('PUT', `/api${members}/${target?.id}`, { body: { role: 'AUDITOR' } });
    });
    const statuses = (await Promise.all(demotions)).map((answer) => answer?.status ?? 0);
    expect(statuses.every((status) => [200, 403, 422].includes(status))).toBe(true);
    expect(statuses).toContain(200);
    const roles = (await membersOf(tenantId)).map(({ role }) => role);
    const owners = roles.filter((role) => role === 'OWNER').length;
    expect(owners).toBeGreaterThanOrEqual(1);
    expect(owners).toBeLessThanOrEqual(most);
  });

  test('whoever has just lost OWNER demotes nobody any more: of two who demote each other one does', async () => {
    const { tenant_id: tenantId, join, owner, ownerMember } = await ownTenant();
    const other = await join('OWNER');
    const demote = (by: typeof owner, id: string) =>
      by.send('PUT', `/api${members}/${id}`, { body: { role: 'ADMIN' } });
    const statuses = (await Promise.all([demote(owner, other.id), demote(other, ownerMember)])).map(
      ({ status }) => status,
    );
    expect(statuses.sort()).toEqual([200, 403]);
    expect((await membersOf(tenantId)).filter(({ role }) => role === 'OWNER')).toHaveLength(1);
  });
});

test('a member who is removed while a change of theirs waits changes nothing', async () => {
  const { db } = api.current;
  const { tenant_id: tenantId, join, owner } = await ownTenant();
  const [admin, target] = [await join('ADMIN'), await join('AUDITOR')];
  let changing: Promise<{ status: number }> | undefined;
  await db.transaction().execute(async (tx) => {
    await tx.selectFrom('members').select('id').where('id', '=', target.id).forUpdate().execute();
    changing = admin.send('PUT', `/api${members}/${target.id}`, { body: { role: 'DEVELOPER' } });
    await untilLockIsAwaited(db);
    await db.deleteFrom('members').where('id', '=', admin.id).execute();
  });
  expect((await changing)?.status).toBe(401);
  expect((await membersOf(tenantId)).find(({ user_id }) => user_id === target.userId)?.role).toBe('AUDITOR');
  expect((await owner.send('GET', '/api/me')).status).toBe(200);
});
