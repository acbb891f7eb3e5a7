import { generateKeyPairSync } from 'node:crypto';
import { type LogRow, logColumns, presentLog } from '@sluice/audit';
import {
  type Checkpoint,
  originOf,
  readVerifierLine,
  signCheckpoint,
  type Verdict,
  verifierLine,
  verifyCheckpoint,
  verifyExport,
} from '@sluice/ledger';
import { openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { testRows } from '../testing/test-rows.ts';
import { sequenceDue } from './sequence.ts';

const database = useStack((stack) => openTestDatabase(stack));
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const ledgerOrigin = 'sluice.example';
const rowCount = 40;

async function insertRows(tenantId: string, count: number): Promise<void> {
  await sql`
    insert into audit_log (tenant_id, operation, entity_type, entity_id, detail)
    select ${tenantId}, 'use', 'proxy', 'p', jsonb_build_object('method', 'GET', 'n', i) from generate_series(1, ${count}::int) as i
  `.execute(database.current.db);
  await sequenceDue({ db: database.current.db, privateKey, ledgerOrigin });
}

const verifierOf = (tenantId: string) =>
  readVerifierLine(verifierLine({ name: originOf(ledgerOrigin, tenantId), publicKey }));

async function readCheckpoint(tenantId: string): Promise<Checkpoint> {
  const { checkpoint } = await database.current.db
    .selectFrom('ledgers')
    .select('checkpoint')
    .where('tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();
  return verifyCheckpoint(checkpoint ?? '', [verifierOf(tenantId)]);
}

/** A row that was deleted from the log is missing. */
async function exportLines(tenantId: string): Promise<string[]> {
  const columns = sql.join(logColumns.map((name) => sql.ref(`log.${name}`)));
  const { rows } = await sql<LogRow & { leaf_index: number; leaf_hash: Buffer; version: number }>`
    select ${columns}, leaf.leaf_index, leaf.leaf_hash, leaf.leaf_version as version
    from ledger_leaves as leaf
    join audit_log as log on log.tenant_id = leaf.tenant_id and log.at = leaf.at and log.id = leaf.log_id
    where leaf.tenant_id = ${tenantId} order by leaf.leaf_index
  `.execute(database.current.db);
  return rows.map(({ leaf_index, leaf_hash, version, ...row }) =>
    JSON.stringify({
      ...presentLog(row),
      leaf_version: version,
      leaf_index,
      leaf_hash: leaf_hash.toString('hex'),
    }),
  );
}

/** The log has forty rows, and an auditor holds its checkpoint. */
async function verifyAfter(tamper: (tenantId: string) => Promise<unknown>): Promise<Verdict> {
  const tenantId = await testRows(database.current.db).tenant();
  await insertRows(tenantId, rowCount);
  const checkpoint = await readCheckpoint(tenantId);
  await tamper(tenantId);
  return verifyExport(await exportLines(tenantId), { checkpoint });
}

const run = (statement: ReturnType<typeof sql>) => statement.execute(database.current.db);
const leafAt = (tenantId: string, index: number) =>
  sql`(select log_id from ledger_leaves where tenant_id = ${tenantId} and leaf_index = ${index})`;

test('the control: nobody was at the tables, and the log grows on', async () => {
  const verdict = await verifyAfter((tenantId) => insertRows(tenantId, 7));
  expect(verdict).toMatchObject({ isWhole: true, size: rowCount, beyond: 7 });
});

test('a row that is changed is named', async () => {
  const verdict = await verifyAfter((tenantId) =>
    run(
      sql`update audit_log set actor_id = gen_random_uuid() where tenant_id = ${tenantId} and id = ${leafAt(tenantId, 17)}`,
    ),
  );
  expect(verdict).toEqual({
    isWhole: false,
    reason: expect.stringMatching(/^The first row that differs from its hash is row 17 /),
  });
});

test('a row that is deleted is named', async () => {
  const verdict = await verifyAfter((tenantId) =>
    run(sql`delete from audit_log where tenant_id = ${tenantId} and id = ${leafAt(tenantId, 5)}`),
  );
  expect(verdict).toEqual({ isWhole: false, reason: 'Row 5 is missing or moved: row 6 stands in its place' });
});

test('the last row, deleted with its leaf, is missing', async () => {
  const verdict = await verifyAfter((tenantId) =>
    run(sql`delete from ledger_leaves where tenant_id = ${tenantId} and leaf_index = ${rowCount - 1}`),
  );
  expect(verdict).toMatchObject({ isWhole: false, reason: expect.stringMatching(/^Row 39 is missing/) });
});

test('rows that change places in the tree change it under the checkpoint', async () => {
  const verdict = await verifyAfter(async (tenantId) => {
    for (const [from, to] of [
      [9, 1000],
      [12, 9],
      [1000, 12],
    ]) {
      await run(
        sql`update ledger_leaves set leaf_index = ${to} where tenant_id = ${tenantId} and leaf_index = ${from}`,
      );
    }
  });
  expect(verdict).toEqual({ isWhole: false, reason: 'The tree was changed before the checkpoint of 40 rows' });
});

test('rows that change places without their hashes are named from the first', async () => {
  const verdict = await verifyAfter((tenantId) =>
    run(sql`
      update audit_log as log set detail = other.detail from audit_log as other
      where log.tenant_id = ${tenantId} and other.tenant_id = ${tenantId} and (log.id, other.id) in (
        (${leafAt(tenantId, 9)}, ${leafAt(tenantId, 12)}), (${leafAt(tenantId, 12)}, ${leafAt(tenantId, 9)}))
    `),
  );
  expect(verdict).toEqual({
    isWhole: false,
    reason: expect.stringMatching(/^The first row that differs from its hash is row 9 /),
  });
});

test('a row that is added with a leaf, those after it moved, changes the tree under the checkpoint', async () => {
  const verdict = await verifyAfter(async (tenantId) => {
    await run(
      sql`update ledger_leaves set leaf_index = -1 - leaf_index where tenant_id = ${tenantId} and leaf_index >= 20`,
    );
    await run(sql`update ledger_leaves set leaf_index = -leaf_index where tenant_id = ${tenantId} and leaf_index < 0`);
    await run(sql`alter table audit_log disable trigger note_audit_rows`);
    await run(sql`
      with added as (
        insert into audit_log (tenant_id, operation, entity_type, entity_id) values (${tenantId}, 'read', 'token', 'x')
        returning tenant_id, id, at
      )
      insert into ledger_leaves (tenant_id, leaf_index, log_id, at, kept_at, leaf_version, leaf_hash)
      select tenant_id, 20, id, at, at, 1, sha256('x') from added
    `);
    await run(sql`alter table audit_log enable trigger note_audit_rows`);
  });
  expect(verdict).toEqual({
    isWhole: false,
    reason: expect.stringMatching(/^The tree was changed before the checkpoint of 40 rows; .* row 20 /),
  });
});

test('a dump of before is noticed by the checkpoint that was handed out since, and by nothing without it', async () => {
  const tenantId = await testRows(database.current.db).tenant();
  await insertRows(tenantId, rowCount);
  const older = await readCheckpoint(tenantId);
  const dump = await exportLines(tenantId);
  await insertRows(tenantId, 10);
  const newer = await readCheckpoint(tenantId);
  expect(await verifyExport(dump, { checkpoint: older })).toMatchObject({ isWhole: true, size: rowCount });
  expect(await verifyExport(dump, { checkpoint: older, since: [newer] })).toEqual({
    isWhole: false,
    reason: 'Row 40 is missing: the export ends before row 40, but the newest checkpoint has 50 rows',
  });
});

const ledgerTables = [
  'audit_log',
  'audit_log_tokens',
  'audit_log_arrivals',
  'ledgers',
  'ledger_leaves',
  'ledger_nodes',
];

async function dumpLog(tenantId: string): Promise<() => Promise<void>> {
  const { db } = database.current;
  const rowsOf = (table: string) =>
    sql<{ rows: string }>`
      select coalesce(jsonb_agg(row), '[]')::text as rows from ${sql.table(table)} as row where tenant_id = ${tenantId}
    `.execute(db);
  const dump = new Map<string, string>();
  for (const table of ledgerTables) dump.set(table, (await rowsOf(table)).rows[0]?.rows ?? '[]');
  return () =>
    db.transaction().execute(async (tx) => {
      await sql`set local session_replication_role = replica`.execute(tx); // as pg_restore, which runs no triggers
      for (const [table, rows] of dump) {
        const name = sql.table(table);
        await sql`delete from ${name} where tenant_id = ${tenantId}`.execute(tx);
        await sql`
          insert into ${name} overriding system value select * from jsonb_populate_recordset(null::${name}, ${rows}::jsonb)
        `.execute(tx);
      }
    });
}

test('a database restored from an old dump that grows on is told by a checkpoint from before, and is whole without it', async () => {
  const tenantId = await testRows(database.current.db).tenant();
  await insertRows(tenantId, rowCount);
  const older = await readCheckpoint(tenantId);
  const restore = await dumpLog(tenantId);
  await insertRows(tenantId, 10);
  const newer = await readCheckpoint(tenantId);
  expect(await verifyExport(await exportLines(tenantId), { checkpoint: newer, since: [older] })).toMatchObject({
    isWhole: true,
  });

  await restore();
  const missing = `Row ${rowCount} is missing: the export ends before row ${rowCount}, but the newest checkpoint has ${rowCount + 10} rows`;
  expect(await verifyExport(await exportLines(tenantId), { checkpoint: older, since: [newer] })).toEqual({
    isWhole: false,
    reason: missing,
  });
  await insertRows(tenantId, 15);
  const grown = await readCheckpoint(tenantId);
  const lines = await exportLines(tenantId);
  expect(await verifyExport(lines, { checkpoint: grown, since: [older] })).toMatchObject({ isWhole: true });
  expect(await verifyExport(lines, { checkpoint: grown, since: [older, newer] })).toEqual({
    isWhole: false,
    reason: `The tree was changed between the checkpoints of ${rowCount} and ${rowCount + 10} rows`,
  });
});

test('a checkpoint of another key is refused, and one of another tree contradicts that which was handed out', async () => {
  const tenantId = await testRows(database.current.db).tenant();
  await insertRows(tenantId, rowCount);
  const checkpoint = await readCheckpoint(tenantId);
  const swapped = { ...checkpoint, root: Buffer.alloc(32, 1) };
  const note = signCheckpoint(swapped, generateKeyPairSync('ed25519').privateKey);
  expect(() => verifyCheckpoint(note, [verifierOf(tenantId)])).toThrow('No key of the key file has signed');
  expect(await verifyExport(await exportLines(tenantId), { checkpoint: swapped, since: [checkpoint] })).toEqual({
    isWhole: false,
    reason: 'There are two checkpoints of 40 rows that contradict each other',
  });
});
