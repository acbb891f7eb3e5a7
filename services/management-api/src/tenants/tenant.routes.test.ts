import { randomUUID } from 'node:crypto';
import { addToCounter } from '@sluice/database';
import { useStack } from '@sluice/testing';
import { isoDate, startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));

async function anotherTenant(name = 'T') {
  const tenant = await api.current.anotherTenant(name);
  const send = (method: string, path: string, body?: unknown) =>
    api.current.send(method, path, { key: tenant.management_key, ...(body !== undefined && { body }) });
  return { ...tenant, send };
}

describe('get', () => {
  test('answers the Tenant of the key, with both settings', async () => {
    const { send, tenant_id, owner_id } = await anotherTenant('Acme');
    const { status, body } = await send('GET', '/tenants/self');
    expect(status).toBe(200);
    expect(body).toEqual({
      id: tenant_id,
      owner_id,
      name: 'Acme',
      settings: { fingerprint_tokens: 'true', deduplicate_tokens: 'false' },
      created_at: isoDate,
    });
  });
});

describe('update', () => {
  test('changes name and settings, and notes who did it', async () => {
    const { send, application_id } = await anotherTenant();
    const before = (await send('GET', '/tenants/self')).body;
    const settings = { fingerprint_tokens: 'false', deduplicate_tokens: 'true' };
    const { status, body } = await send('PUT', '/tenants/self', { name: 'New', settings });
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, name: 'New', settings, modified_by: application_id, modified_at: isoDate });
    expect((await send('GET', '/tenants/self')).body).toEqual(body);
  });

  test.each([
    ['no settings', { name: 'N' }],
    ['null settings', { name: 'N', settings: null }],
    ['empty settings', { name: 'N', settings: {} }],
    ['a null member', { name: 'N', settings: { deduplicate_tokens: null } }],
    ['only the other member', { name: 'N', settings: { fingerprint_tokens: 'true' } }],
    ['an unknown member', { name: 'N', settings: { more: 1 }, id: randomUUID(), owner_id: 5 }],
  ])('%s keeps the value of a setting', async (_name, body) => {
    const { send, tenant_id } = await anotherTenant();
    await send('PUT', '/tenants/self', { name: 'T', settings: { deduplicate_tokens: 'true' } });
    const answer = await send('PUT', '/tenants/self', body);
    expect(answer).toMatchObject({
      status: 200,
      body: { id: tenant_id, settings: { fingerprint_tokens: 'true', deduplicate_tokens: 'true' } },
    });
  });

  test.each([
    ['name', {}],
    ['name', { name: null }],
    ['name', { name: '' }],
    ['name', { name: '😀'.repeat(201) }],
    ['settings', { name: 'N', settings: 'true' }],
    ['settings.fingerprint_tokens', { name: 'N', settings: { fingerprint_tokens: true } }],
    ['settings.deduplicate_tokens', { name: 'N', settings: { deduplicate_tokens: 'yes' } }],
    ['settings.deduplicate_tokens', { name: 'N', settings: { deduplicate_tokens: 'TRUE' } }],
    ['settings.dedupicate_tokens', { name: 'N', settings: { dedupicate_tokens: 'true' } }],
    ['setings', { name: 'N', setings: { deduplicate_tokens: 'true' } }],
  ])('400 for %s in %j; nothing changes', async (path, body) => {
    const { send } = await anotherTenant();
    const before = (await send('GET', '/tenants/self')).body;
    const answer = await send('PUT', '/tenants/self', body);
    expect({ status: answer.status, paths: Object.keys(answer.body.errors) }).toEqual({ status: 400, paths: [path] });
    expect((await send('GET', '/tenants/self')).body).toEqual(before);
  });
});

describe('usage report', () => {
  test('of a Tenant without tokens has token, card and bank at 0', async () => {
    const { send } = await anotherTenant();
    const { status, body } = await send('GET', '/tenants/self/reports/usage');
    expect(status).toBe(200);
    expect(body).toEqual({
      token_report: {
        metrics_by_type: { token: { count: 0 }, card: { count: 0 }, bank: { count: 0 } },
        included_monthly_active_tokens: 0,
        monthly_active_tokens: 0,
      },
    });
  });

  test('sums the counters of the Tenant, and of no other', async () => {
    const { db } = api.current;
    const { send, tenant_id } = await anotherTenant();
    const other = await anotherTenant();
    const at = '2026-01-02T03:04:05.678Z';
    const month = `${new Date().toISOString().slice(0, 7)}-01`;
    for (const amount of [2, 3]) await addToCounter(db, tenant_id, 'tokens:card', amount, at);
    await addToCounter(db, tenant_id, 'tokens:social_security_number', 1, at);
    await addToCounter(db, tenant_id, `active_tokens:${month}`, 4);
    await addToCounter(db, tenant_id, 'active_tokens:2001-01-01', 9);
    await addToCounter(db, other.tenant_id, 'tokens:card', 100, at);
    await db.updateTable('tenants').set({ included_monthly_active_tokens: 50 }).where('id', '=', tenant_id).execute();
    expect((await send('GET', '/tenants/self/reports/usage')).body.token_report).toEqual({
      metrics_by_type: {
        token: { count: 0 },
        card: { count: 5, last_created_at: at },
        bank: { count: 0 },
        social_security_number: { count: 1, last_created_at: at },
      },
      included_monthly_active_tokens: 50,
      monthly_active_tokens: 4,
    });
  });
});

describe('delete', () => {
  test('answers 204 without a body; from then on every key of the Tenant is refused', async () => {
    const { send, management_key } = await anotherTenant();
    const { key } = await api.current.application(
      { type: 'management', permissions: ['tenant:read'] },
      { key: management_key },
    );
    const { status, body } = await send('DELETE', '/tenants/self');
    expect({ status, body }).toEqual({ status: 204, body: '' });
    for (const refused of [management_key, key]) {
      for (const path of ['/tenants/self', '/applications/key', '/permissions', '/proxies']) {
        expect((await api.current.send('GET', path, { key: refused })).status).toBe(401);
      }
    }
    expect((await send('DELETE', '/tenants/self')).status).toBe(401);
  });

  test('destroys the data keys of the Tenant and no others', async () => {
    const { db, proxy } = api.current;
    const { send, tenant_id, management_key } = await anotherTenant();
    await proxy({ configuration: { a: 'b' } }, { key: management_key });
    const kept = await proxy({ configuration: { a: 'b' } });
    const keysOf = (id: string) => db.selectFrom('data_keys').select('version').where('tenant_id', '=', id).execute();
    expect(await keysOf(tenant_id)).not.toEqual([]);
    await send('DELETE', '/tenants/self');
    expect(await keysOf(tenant_id)).toEqual([]);
    expect((await api.current.send('GET', `/proxies/${kept.id}`)).body).toEqual(kept);
  });

  test('two at once close the Tenant once', async () => {
    const { db } = api.current;
    const { send, tenant_id } = await anotherTenant();
    const answers = await Promise.all([send('DELETE', '/tenants/self'), send('DELETE', '/tenants/self')]);
    const statuses = answers.map(({ status }) => status).sort();
    expect([
      [204, 401],
      [204, 404],
    ]).toContainEqual(statuses);
    const rows = db.selectFrom('audit_log').select('operation').where('tenant_id', '=', tenant_id);
    expect(await rows.where('operation', '=', 'delete').execute()).toHaveLength(1);
  });
});
