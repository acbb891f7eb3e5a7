import { recordChange } from '@sluice/audit';
import type { Queryable } from '@sluice/database';
import { untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { actOf } from '../context.ts';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));

async function openTenant() {
  const { newTenant, application, send, db } = api.current;
  const { tenant_id, application_id, management_key: key } = await newTenant('T');
  const { id } = await application({}, { key });
  const close = () => send('DELETE', '/tenants/self', { key });
  const put = () => {
    const body = { name: 'late', permissions: ['token:read'] };
    return send('PUT', `/applications/${id}`, { key, body });
  };
  const last = async () => {
    const rows = db.selectFrom('audit_log').select(['entity_type', 'operation']).where('tenant_id', '=', tenant_id);
    return (await rows.orderBy('at', 'desc').orderBy('id', 'desc').execute())[0];
  };
  return { tenant_id, application_id, id, close, put, last };
}

const theClosing = { entity_type: 'tenant', operation: 'delete' };

test('a change that waited while the Tenant was closed is 401 and leaves no row after the closing', async () => {
  const { db } = api.current;
  const { id, close, put, last } = await openTenant();
  const { changed } = await db.transaction().execute(async (tx) => {
    await sql`select from applications where id = ${id}::uuid for update`.execute(tx);
    const changed = put();
    await untilLockIsAwaited(db);
    expect((await close()).status).toBe(204);
    return { changed };
  });
  expect((await changed).status).toBe(401);
  expect(await last()).toEqual(theClosing);
});

test('the closing waits for changes and creations that are being committed', async () => {
  const { db } = api.current;
  const { tenant_id, application_id, close, last } = await openTenant();
  const caller = { id: application_id, tenantId: tenant_id, type: 'management', permissions: [], rules: [] } as const;
  const record = (tx: Queryable) =>
    recordChange(tx, actOf(caller, 'trace'), { operation: 'create', entityType: 'token', entityId: 'x' });
  const { closed } = await db.transaction().execute(async (tx) => {
    // As creations of tokens do.
    await sql`select from tenants where id = ${tenant_id}::uuid for key share`.execute(tx);
    const closed = close();
    await untilLockIsAwaited(db);
    await record(tx);
    return { closed };
  });
  expect((await closed).status).toBe(204);
  expect(await last()).toEqual(theClosing);
});
