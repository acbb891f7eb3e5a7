import { randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';
import { createTestDatabase, eventually, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { type Disclosure, openDisclosureLog, recordChange } from './index.ts';

const database = useStack((stack) => createTestDatabase(stack));

function disclosure(tenantId: string, part: Partial<Disclosure> = {}): Disclosure {
  return {
    tenantId,
    actorId: randomUUID(),
    traceId: 'trace',
    operation: 'token.read',
    entityType: 'token',
    entityId: randomUUID(),
    detail: { token_ids: ['t1', 't2'], outcome: 'ok' },
    ...part,
  };
}

const rowsOf = (db: Database, tenantId: string) =>
  db.selectFrom('audit_log').selectAll().where('tenant_id', '=', tenantId).orderBy('at').execute();

describe('recordChange', () => {
  test('writes who did what to which thing under which trace', async () => {
    const { db } = database.current;
    const act = { tenantId: randomUUID(), actorId: randomUUID(), traceId: 'abc' };
    const change = { operation: 'proxy.updated', entityType: 'proxy', entityId: 'p1', detail: { members: ['name'] } };
    await recordChange(db, act, change);
    expect(await rowsOf(db, act.tenantId)).toEqual([
      {
        tenant_id: act.tenantId,
        id: expect.any(String),
        at: expect.stringMatching(/Z$/),
        actor_id: act.actorId,
        trace_id: 'abc',
        operation: 'proxy.updated',
        entity_type: 'proxy',
        entity_id: 'p1',
        detail: { members: ['name'] },
      },
    ]);
  });

  test('is gone with the transaction that rolls back', async () => {
    const { db } = database.current;
    const act = { tenantId: randomUUID(), actorId: null, traceId: null };
    const change = db.transaction().execute(async (tx) => {
      await recordChange(tx, act, { operation: 'x', entityType: 'x', entityId: 'x' });
      throw new Error('no');
    });
    await expect(change).rejects.toThrow('no');
    expect(await rowsOf(db, act.tenantId)).toEqual([]);
  });
});

describe('the disclosure log', () => {
  const failures: unknown[] = [];
  const onError = (error: unknown) => void failures.push(error);

  test('writes what is recorded soon, as it was', async () => {
    await using stack = new AsyncDisposableStack();
    const { db } = database.current;
    const tenantId = randomUUID();
    const log = openDisclosureLog({ db, stack, onError, flushIntervalMs: 10 });
    const recorded = disclosure(tenantId, { actorId: null });
    log.record(recorded);
    await eventually('written', async () => (await rowsOf(db, tenantId)).length > 0);
    expect(await rowsOf(db, tenantId)).toEqual([
      {
        tenant_id: tenantId,
        id: expect.any(String),
        at: expect.any(String),
        actor_id: null,
        trace_id: 'trace',
        operation: 'token.read',
        entity_type: 'token',
        entity_id: recorded.entityId,
        detail: recorded.detail,
      },
    ]);
  });

  test('writes what is queued before it closes, more than one batch of it, each once', async () => {
    const stack = new AsyncDisposableStack();
    const { db } = database.current;
    const tenantId = randomUUID();
    const log = openDisclosureLog({ db, stack, onError, flushIntervalMs: 60_000 });
    for (let i = 0; i < 2500; i++) log.record(disclosure(tenantId, { entityId: `token-${i}` }));
    await stack.disposeAsync();
    const ids = (await rowsOf(db, tenantId)).map(({ entity_id }) => entity_id);
    expect([ids.length, new Set(ids).size]).toEqual([2500, 2500]);
  });

  test('refuses with 503 what it cannot keep: what cannot be recorded is not disclosed', async () => {
    await using stack = new AsyncDisposableStack();
    const log = openDisclosureLog({ ...database.current, stack, onError, queueLimit: 2, flushIntervalMs: 60_000 });
    log.record(disclosure(randomUUID()));
    log.record(disclosure(randomUUID()));
    expect(() => log.record(disclosure(randomUUID()))).toThrow(expect.objectContaining({ code: 'unavailable' }));
  });

  test('tells of a batch that could not be written, keeps it, and writes it when that is possible again', async () => {
    await using stack = new AsyncDisposableStack();
    const { db } = await createTestDatabase(stack);
    const tenantId = randomUUID();
    failures.length = 0;
    const log = openDisclosureLog({ db, stack, onError, flushIntervalMs: 10 });
    await sql`alter table audit_log rename to elsewhere`.execute(db);
    log.record(disclosure(tenantId));
    await eventually('told', () => failures.length > 1);
    await sql`alter table elsewhere rename to audit_log`.execute(db);
    await eventually('written', async () => (await rowsOf(db, tenantId)).length > 0);
    log.record(disclosure(tenantId));
    await eventually('both', async () => (await rowsOf(db, tenantId)).length === 2);
  });
});
