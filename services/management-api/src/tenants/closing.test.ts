import { recordChange, recordClosing, systemAct } from '@sluice/audit';
import { untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));

async function createTenant() {
  const { anotherTenant, application, send, db } = api.current;
  const { tenant_id, management_key: key } = await anotherTenant('T');
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
  return { tenant_id, id, close, put, last };
}

const aCreation = { operation: 'create', entityType: 'token', entityId: 'x' } as const;
const theClosing = { entity_type: 'tenant', operation: 'delete' };

test('a change that waited while the Tenant was closed is 401 and leaves no row after the closing', async () => {
  const { db } = api.current;
  const { id, close, put, last } = await createTenant();
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

test('the closing is written after changes and creations that are being committed', async () => {
  const { db } = api.current;
  const { tenant_id, close, last } = await createTenant();
  const { closed } = await db.transaction().execute(async (tx) => {
    // Creations of tokens hold the row in this way too.
    await recordChange(tx, systemAct(tenant_id), aCreation);
    const closed = close();
    await untilLockIsAwaited(db);
    return { closed };
  });
  expect((await closed).status).toBe(204);
  expect(await last()).toEqual(theClosing);
});

test('writers that follow each other without a gap do not keep a Tenant from being closed', async () => {
  const { db } = api.current;
  const { tenant_id, close, last } = await createTenant();
  const write = async () => {
    const tx = await db.startTransaction().execute();
    const refusal = await recordChange(tx, systemAct(tenant_id), aCreation).catch((error: unknown) => error);
    return { tx, refusal };
  };
  let isGivenUp = false;
  let latest = await write();
  async function writeUntilRefused(): Promise<void> {
    while (!isGivenUp && !latest.refusal) {
      const former = latest;
      latest = await write();
      await former.tx.commit().execute();
    }
    await latest.tx.commit().execute();
  }
  const written = writeUntilRefused();
  const { status } = await close();
  isGivenUp = status !== 204;
  await written;
  expect({ status, refusal: latest.refusal }).toMatchObject({ status: 204, refusal: { code: 'unauthenticated' } });
  expect(await last()).toEqual(theClosing);
});

test('a Tenant whose closing cannot be written is closed: 204, and the purge writes it', async () => {
  const { db, logLines } = api.current;
  const { tenant_id, close, last } = await createTenant();
  await sql
    .raw(`
      create function fail() returns trigger language plpgsql as $$ begin raise exception 'no room'; end $$;
      create trigger no_closing before insert on audit_log for each row
      when (new.tenant_id = '${tenant_id}' and new.operation = 'delete') execute function fail();
    `)
    .execute(db);
  expect((await close()).status).toBe(204);
  expect((await close()).status).toBe(401);
  expect(await last()).not.toEqual(theClosing);
  expect(logLines.filter((line) => line.includes('no room'))).toHaveLength(1);
  await sql.raw('drop trigger no_closing on audit_log').execute(db);
  await recordClosing(db, tenant_id, null); // as the purge does
  expect(await last()).toEqual(theClosing);
});
