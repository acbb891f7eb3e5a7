import { randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';
import { afterStatement, openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { sequenceLog } from '../testing/sequence-log.ts';
import { exportLog } from './log-export.ts';
import { proveConsistency } from './prove-row.ts';

const database = useStack((stack) => openTestDatabase(stack));

async function fillLedger(): Promise<string> {
  const { db } = database.current;
  const tenantId = randomUUID();
  await sql`
    insert into audit_log (tenant_id, operation, entity_type, entity_id)
    select ${tenantId}, 'use', 'proxy', 'p' from generate_series(1, 300)
  `.execute(db);
  await sequenceLog(db, tenantId);
  await db.updateTable('ledgers').set({ dropped: 100 }).where('tenant_id', '=', tenantId).execute();
  return tenantId;
}

/** Retention drops rows as soon as the first statement is answered. */
function prunedMeanwhile(db: Database, tenantId: string): Database {
  return afterStatement(db, 1, async () => {
    await db.updateTable('ledgers').set({ dropped: 290 }).where('tenant_id', '=', tenantId).execute();
    await sql`delete from ledger_leaves where tenant_id = ${tenantId} and leaf_index < 288`.execute(db);
    await sql`delete from ledger_nodes where tenant_id = ${tenantId} and level = 4 and node_index < 16`.execute(db);
  });
}

test('a proof of consistency is that of one moment, also where retention drops rows meanwhile', async () => {
  const { db } = database.current;
  const tenantId = await fillLedger();
  const sizes = { from: 100, to: 280 };
  const before = await proveConsistency(db, tenantId, sizes);
  expect(await proveConsistency(prunedMeanwhile(db, tenantId), tenantId, sizes)).toEqual(before);
  await expect(proveConsistency(db, tenantId, sizes)).rejects.toMatchObject({ code: 'validation_failed' }); // control
});

test('an export begins with the subtrees of one moment', async () => {
  const { db } = database.current;
  const tenantId = await fillLedger();
  const firstLine = async (from: Database) => {
    for await (const piece of exportLog(from, { tenantId, filter: {}, start: 0, format: 'ndjson' })) return piece;
    return undefined;
  };
  const before = await firstLine(db);
  expect(await firstLine(prunedMeanwhile(db, tenantId))).toBe(before);
  expect(await firstLine(db)).toContain('{"dropped":290,'); // control
});

test('an export whose rows retention drops meanwhile ends with an error, and is no shorter one', async () => {
  const { db } = database.current;
  const exported = async (drop: (tenantId: string) => Promise<unknown>) => {
    const tenantId = randomUUID();
    await sql`
      insert into audit_log (tenant_id, operation, entity_type, entity_id)
      select ${tenantId}, 'use', 'proxy', 'p' from generate_series(1, 4500)
    `.execute(db);
    await sequenceLog(db, tenantId);
    let lines = 0;
    for await (const piece of exportLog(db, { tenantId, filter: {}, start: 0, format: 'ndjson' })) {
      if (lines === 0) await drop(tenantId);
      lines += piece.split('\n').length - 1;
    }
    return lines;
  };
  const drop = async (tenantId: string) => {
    await db.updateTable('ledgers').set({ dropped: 4016 }).where('tenant_id', '=', tenantId).execute();
    await sql`delete from ledger_leaves where tenant_id = ${tenantId} and leaf_index < 4016`.execute(db);
  };
  await expect(exported(drop)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await exported(async () => undefined)).toBe(4500);
});
