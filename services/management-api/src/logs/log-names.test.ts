import { randomUUID } from 'node:crypto';
import type { PermissionType } from '@sluice/access';
import { type Log, recordChange, systemAct } from '@sluice/audit';
import { countRowsRead, insertTestMember, openTestDatabase, recordStatements, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { shareTestManagement } from '../testing/test-management.ts';
import { namesOf } from './log-names.ts';

const api = useStack(() => shareTestManagement());

const merge = { headers: { 'Content-Type': 'application/merge-patch+json' } };

async function ownTenant() {
  const { anotherTenant, send } = api.current;
  const { tenant_id: tenantId, management_key: key, application_id } = await anotherTenant('T');
  const list = async (query = '', by = key) => (await send('GET', `/logs?${query || 'size=100'}`, { key: by })).body;
  const namesIn = async (query = ''): Promise<Record<string, string>> => (await list(query)).names;
  return { tenantId, key, application_id, list, namesIn };
}

/** One of each kind, which the log shows, and then is gone or not. */
async function thingsIn({ key, tenantId }: { key: string; tenantId: string }) {
  const { application, proxy, reactor, formula, send, db } = api.current;
  const { id: applicationId } = await application({ name: 'Shop' }, { key });
  const added = await send('POST', `/applications/${applicationId}/keys`, { key, body: { name: 'Blue key' } });
  const member = await insertTestMember(db, { tenantId, role: 'AUDITOR', email: `${randomUUID()}@example.com` });
  const { email } = await db
    .selectFrom('users')
    .select('email')
    .where('id', '=', member.userId)
    .executeTakeFirstOrThrow();
  const act = { tenantId, actorId: member.userId, actorType: 'user', traceId: null } as const;
  await recordChange(db, act, { operation: 'update', entityType: 'member', entityId: member.id });
  return {
    application: { id: applicationId, name: 'Shop', path: `/applications/${applicationId}` },
    key: {
      id: added.body.id as string,
      name: 'Blue key',
      path: `/applications/${applicationId}/keys/${added.body.id}`,
    },
    proxy: named(await proxy({ name: 'Payments' }, { key }), '/proxies'),
    reactor: named(await reactor({ name: 'Scorer' }, { key }), '/reactors'),
    formula: named(await formula({ name: 'Score' }, { key }), '/reactor-formulas'),
    member: { id: member.id, name: email ?? '', path: `/tenants/self/members/${member.id}` },
    user: { id: member.userId, name: email ?? '' },
  };
}

const named = ({ id, name }: { id: string; name: string }, path: string) => ({ id, name, path: `${path}/${id}` });

type Things = Awaited<ReturnType<typeof thingsIn>>;

const expectedOf = (things: Partial<Things>) =>
  Object.fromEntries(Object.values(things).map(({ id, name }) => [id, name]));

const deletedFirst = ['key', 'member', 'reactor', 'formula', 'proxy', 'application'] as const;

describe('GET /logs names', () => {
  test('what its rows show, also when it is gone', async () => {
    const tenant = await ownTenant();
    const things = await thingsIn(tenant);
    const expected = { ...expectedOf(things), [tenant.application_id]: expect.any(String) };
    expect(await tenant.namesIn()).toEqual(expected);
    for (const each of deletedFirst) {
      const { status } = await api.current.send('DELETE', things[each].path, { key: tenant.key });
      expect([each, status]).toEqual([each, 204]);
    }
    expect(await tenant.namesIn()).toEqual(expected);
    await api.current.db.deleteFrom('former_names').where('tenant_id', '=', tenant.tenantId).execute();
    // The control: without former names nothing that is gone has one.
    expect(await tenant.namesIn()).toEqual({ [tenant.application_id]: expect.any(String) });
  });

  test('each thing as it was called when the newest row of the page was written', async () => {
    const { key, namesIn, list } = await ownTenant();
    const { proxy, send } = api.current;
    const { id } = await proxy({ name: 'First' }, { key });
    for (const name of ['Second', 'Third']) await send('PATCH', `/proxies/${id}`, { key, body: { name }, ...merge });
    await send('DELETE', `/proxies/${id}`, { key });
    const { data } = await list(`entity_id=${id}`);
    expect(data.map(({ operation }: Log) => operation)).toEqual(['delete', 'update', 'update', 'create']);
    const nameOnPage = async (page: number) => (await namesIn(`entity_id=${id}&size=1&page=${page}`))[id];
    const pages = await Promise.all([1, 2, 3, 4].map(nameOnPage));
    expect(pages).toEqual(['Third', 'Third', 'Second', 'First']);
    expect((await namesIn(`entity_id=${id}`))[id]).toBe('Third');
  });

  test('what was renamed or deleted by a statement that knows nothing of names, keys that go with their Application too', async () => {
    const tenant = await ownTenant();
    const { db } = api.current;
    const { application, key, proxy, user } = await thingsIn(tenant);
    await db.updateTable('proxies').set({ name: 'Renamed' }).where('id', '=', proxy.id).execute();
    await db.deleteFrom('applications').where('id', '=', application.id).execute();
    await db.updateTable('users').set({ email: 'new@example.com' }).where('id', '=', user.id).execute();
    expect(await tenant.namesIn()).toMatchObject(expectedOf({ application, key, proxy, user }));
    await recordChange(db, systemAct(tenant.tenantId), { operation: 'update', entityType: 'user', entityId: user.id });
    expect(await tenant.namesIn()).toMatchObject({ [user.id]: 'new@example.com' });
  });

  test('only kinds that the caller may read, in every combination of permissions', async () => {
    const tenant = await ownTenant();
    const things = await thingsIn(tenant);
    const { application, key, proxy, reactor, formula, member, user } = things;
    const needs: [PermissionType, Partial<Things>][] = [
      ['application:read', { application, key }],
      ['proxy:read', { proxy }],
      ['reactor:read', { reactor, formula }],
      ['tenant:member:read', { member, user }],
    ];
    await api.current.send('DELETE', proxy.path, { key: tenant.key }); // former names need the permission, too
    await api.current.send('DELETE', member.path, { key: tenant.key });
    const known = new Set(Object.keys(expectedOf(things)));
    for (let mask = 0; mask < 2 ** needs.length; mask++) {
      const held = needs.filter((_, i) => mask & (1 << i));
      const permissions = ['log:read', ...held.map(([permission]) => permission)];
      const body = { type: 'management', permissions };
      const reader = await api.current.application(body, { key: tenant.key });
      const { names } = await tenant.list('', reader.key);
      const shown = Object.fromEntries(Object.entries(names).filter(([id]) => known.has(id)));
      const expected = Object.assign({}, ...held.map(([, part]) => expectedOf(part)));
      expect([permissions, shown]).toEqual([permissions, expected]);
    }
  });

  test('nothing of another Tenant, whose ids a row may show', async () => {
    const [mine, other] = [await ownTenant(), await ownTenant()];
    const { db, send } = api.current;
    const things = await thingsIn(other);
    await send('DELETE', things.proxy.path, { key: other.key });
    const entities = { application: things.application, proxy: things.proxy, reactor: things.reactor } as const;
    for (const [entityType, { id }] of Object.entries(entities) as [keyof typeof entities, { id: string }][]) {
      const detail = { key_id: things.key.id, user_id: things.user.id, member_id: things.member.id };
      const change = { operation: 'update', entityType, entityId: id, detail } as const;
      await recordChange(db, systemAct(mine.tenantId), change);
    }
    expect(await mine.namesIn()).toEqual({});
    expect(await other.namesIn()).toMatchObject(expectedOf(things)); // the control
  });

  test('a member by e-mail who has left', async () => {
    const tenant = await ownTenant();
    const { member, user } = await thingsIn(tenant);
    const { db, send } = api.current;
    await send('DELETE', member.path, { key: tenant.key });
    await db.updateTable('users').set({ email: 'elsewhere@example.com' }).where('id', '=', user.id).execute();
    const names = await tenant.namesIn();
    expect([names[member.id], names[user.id]]).toEqual([member.name, user.name]);
  });

  test('in the page alone, neither in rows nor in exports', async () => {
    const tenant = await ownTenant();
    const things = await thingsIn(tenant);
    const { data } = await tenant.list();
    const exported = await fetch(`${api.current.url}/logs/export`, { headers: { 'SVC-API-KEY': tenant.key } });
    for (const text of [JSON.stringify(data), await exported.text()]) {
      for (const { id, name } of Object.values(things)) expect(text).not.toContain(name === 'Score' ? id + name : name);
    }
  });
});

test('a closed Tenant gets no former names', async () => {
  const { db } = api.current;
  const [closed, open] = [await ownTenant(), await ownTenant()];
  const count = async ({ tenantId }: { tenantId: string }) =>
    (await db.selectFrom('former_names').select('id').where('tenant_id', '=', tenantId).execute()).length;
  for (const tenant of [closed, open]) await thingsIn(tenant);
  await db
    .updateTable('tenants')
    .set({ closed_at: new Date().toISOString() })
    .where('id', '=', closed.tenantId)
    .execute();
  for (const { tenantId } of [closed, open]) {
    for (const table of ['proxies', 'members', 'application_keys'] as const) {
      await db.deleteFrom(table).where('tenant_id', '=', tenantId).execute();
    }
  }
  expect([await count(closed), await count(open)]).toEqual([0, 4]);
});

describe('the names of a page', () => {
  const database = useStack(async (stack) => (await openTestDatabase(stack)).db);
  const tenantId = randomUUID();
  const kinds = ['application', 'proxy', 'reactor', 'reactor_formula', 'member', 'user'] as const;
  const caller = {
    tenantId,
    permissions: ['application:read', 'proxy:read', 'reactor:read', 'tenant:member:read'],
    rules: [],
  };
  const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const logsOf = (count: number): Log[] =>
    Array.from({ length: count }, (_, i) => ({
      id: randomUUID(),
      tenant_id: tenantId,
      actor_type: 'user',
      actor_id: idOf(i + 1000),
      entity_type: kinds[i % kinds.length] ?? 'proxy',
      entity_id: idOf(i),
      operation: 'update',
      message: '',
      created_at: '2026-01-01T00:00:00.000Z',
      detail: { application_id: idOf(i + 2000), key_id: idOf(i + 3000) },
    }));

  test('take one statement, which reads as many rows as it shows however many names there are', async () => {
    const db = database.current;
    await db.insertInto('tenants').values({ id: tenantId, owner_id: randomUUID(), name: 'T' }).execute();
    await sql`
      insert into former_names (tenant_id, kind, id, name, until)
      select ${tenantId}::uuid, 'proxy', ('00000000-0000-4000-8000-' || lpad((n % 5000)::text, 12, '0'))::uuid, 'Former',
        '2026-02-01T00:00:00Z'::timestamptz + n * interval '1 second'
      from generate_series(0, 49999) as n
    `.execute(db);
    await sql`
      insert into proxies (tenant_id, id, name, key_hash, key_ciphertext, destination_url)
      select ${tenantId}::uuid, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'Present',
        sha256(n::text::bytea), '', 'https://example.com'
      from generate_series(0, 19999) as n
    `.execute(db);
    await sql`analyze former_names, proxies`.execute(db);
    const recorded = recordStatements(db);
    const names = await namesOf(recorded.db, caller, logsOf(100));
    expect(Object.keys(names)).toHaveLength(17); // every sixth of a hundred rows shows a Proxy
    expect(recorded.statements).toHaveLength(1);
    const [read = Number.NaN] = await countRowsRead(db, recorded.statements);
    expect(read).toBeLessThan(2000);
  });
});
