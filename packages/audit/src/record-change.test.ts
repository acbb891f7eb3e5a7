import { randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';
import { openTestDatabase, useStack } from '@sluice/testing';
import { type Act, type Change, recordChange, systemAct } from './index.ts';

const database = useStack((stack) => openTestDatabase(stack));

async function createTenant(db: Database, closedAt: string | null = null): Promise<string> {
  const id = randomUUID();
  await db.insertInto('tenants').values({ id, owner_id: randomUUID(), name: 'T', closed_at: closedAt }).execute();
  return id;
}

const rowsOf = (db: Database, tenantId: string) =>
  db.selectFrom('audit_log').selectAll().where('tenant_id', '=', tenantId).orderBy('at').execute();

describe('recordChange', () => {
  test('writes who did what to which thing under which trace', async () => {
    const { db } = database.current;
    const act: Act = { tenantId: await createTenant(db), actorId: randomUUID(), actorType: 'session', traceId: 'abc' };
    const detail = { members: ['name'] };
    const change: Change = { operation: 'update', entityType: 'proxy', entityId: 'p1', detail };
    await recordChange(db, act, change);
    expect(await rowsOf(db, act.tenantId)).toEqual([
      {
        tenant_id: act.tenantId,
        id: expect.any(String),
        at: expect.stringMatching(/Z$/),
        actor_id: act.actorId,
        actor_type: 'session',
        trace_id: 'abc',
        operation: 'update',
        entity_type: 'proxy',
        entity_id: 'p1',
        message: 'Proxy updated',
        detail: { members: ['name'] },
        leaf_version: 1,
      },
    ]);
  });

  test('is gone with the transaction that rolls back', async () => {
    const { db } = database.current;
    const act = systemAct(await createTenant(db));
    const change = db.transaction().execute(async (tx) => {
      await recordChange(tx, act, { operation: 'create', entityType: 'proxy', entityId: 'x' });
      throw new Error('no');
    });
    await expect(change).rejects.toThrow('no');
    expect(await rowsOf(db, act.tenantId)).toEqual([]);
  });

  test('writes nothing for a closed Tenant, whose log ends with the closing', async () => {
    const { db } = database.current;
    const act = systemAct(await createTenant(db, new Date().toISOString()));
    const refused = recordChange(db, act, { operation: 'create', entityType: 'proxy', entityId: 'x' });
    await expect(refused).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await rowsOf(db, act.tenantId)).toEqual([]);
  });
});
