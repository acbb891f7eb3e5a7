import { openTestDatabase, useStack } from '@sluice/testing';
import { noteOverlooked } from '@sluice/vault';
import { sql } from 'kysely';
import { sequenceDue } from './ledger/sequence.ts';
import { deleteTenantRow } from './tenant-purge/tenant-purge.queries.ts';
import { testRows } from './testing/test-rows.ts';

const database = useStack((stack) => openTestDatabase(stack));

/** The clock of this process, but not that of Postgres. */
function setClock(moment: string): Disposable {
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(value: string | number | Date = moment) {
      super(value);
    }

    static override now(): number {
      return RealDate.parse(moment);
    }
  } as DateConstructor;
  return {
    [Symbol.dispose]: () => {
      globalThis.Date = RealDate;
    },
  };
}

const isOfNow = (column: string) =>
  sql<boolean>`${sql.ref(column)} between now() - interval '1 hour' and now() + interval '1 hour'`.as('is_of_now');

describe.each(['2001-01-01T00:00:00.000Z', '2200-01-01T00:00:00.000Z'])('a worker whose clock says %s', (moment) => {
  test('keeps rows as long as another: from their time on, if that is not in the future', async () => {
    const { db } = database.current;
    const tenantId = await testRows(db).tenant();
    await sql`
      insert into audit_log (tenant_id, at, operation, entity_type, entity_id)
      select ${tenantId}, at, 'use', 'proxy', 'p' from unnest(array[now(), '2120-01-01']) as at
    `.execute(db);
    using _clock = setClock(moment);
    await sequenceDue({ db, privateKey: undefined, ledgerOrigin: 'sluice.example' });
    const leaves = db.selectFrom('ledger_leaves').select(isOfNow('kept_at')).where('tenant_id', '=', tenantId);
    expect(await leaves.execute()).toEqual([{ is_of_now: true }, { is_of_now: true }]);
  });

  test('keeps the log of a purged Tenant from the purge on', async () => {
    const { db } = database.current;
    const tenantId = await testRows(db).tenant();
    await db.insertInto('ledgers').values({ tenant_id: tenantId }).execute();
    await sql`update tenants set closed_at = now() where id = ${tenantId}`.execute(db);
    using _clock = setClock(moment);
    expect(await deleteTenantRow(db, tenantId)).toBe(true);
    const ledger = db.selectFrom('ledgers').select(isOfNow('closed_at')).where('tenant_id', '=', tenantId);
    expect(await ledger.execute()).toEqual([{ is_of_now: true }]);
  });

  test('notes tokens that were overlooked as due now', async () => {
    const { db } = database.current;
    const rows = testRows(db);
    const tenantId = await rows.tenant();
    await rows.tokens(tenantId, 1);
    await sql`update tokens set expires_at = now() where tenant_id = ${tenantId}`.execute(db);
    using _clock = setClock(moment);
    await noteOverlooked(db, tenantId);
    const due = db.selectFrom('due_tokens').select(isOfNow('due_at')).where('tenant_id', '=', tenantId);
    expect(await due.execute()).toEqual([{ is_of_now: true }]);
  });
});
