import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';
import {
  addLeaf,
  type Frontier,
  originOf,
  readFrontier,
  readVerifierLine,
  rootOf,
  type Subtree,
  signCheckpoint,
  subtreesOf,
  verifierLine,
  verifyCheckpoint,
} from '@sluice/ledger';
import { openTestDatabase, untilLockIsAwaited } from '@sluice/testing';
import { sql } from 'kysely';
import { sequenceDue } from '../ledger/sequence.ts';
import { testRows } from '../testing/test-rows.ts';
import { dropOldRows as dropOldRowsOf, type RetentionOptions } from './drop-old-rows.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const signer = { privateKey, ledgerOrigin: 'sluice.example' };
const dropOldRows = (options: Omit<RetentionOptions, keyof typeof signer>) => dropOldRowsOf({ ...signer, ...options });
const dayMs = 86_400_000;
const monthsAway = (count: number) => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + count, 15, 12)).toISOString();
};
const name = (parent: string, at: string) => `${parent}_${at.slice(0, 7).replace('-', '_')}`;

const daysFor = (months: number) => Math.floor((Date.now() - Date.parse(monthsAway(months))) / dayMs);

/** The months begin a year ago, as if the database had been migrated then. */
async function openDatabase(stack: AsyncDisposableStack): Promise<Database> {
  const { db } = await openTestDatabase(stack);
  const first = `${monthsAway(-12).slice(0, 7)}-01T00:00:00Z`;
  for (const parent of ['audit_log', 'audit_log_tokens']) {
    await sql.raw(`alter table ${parent} detach partition ${parent}_before`).execute(db);
    await sql
      .raw(`alter table ${parent} attach partition ${parent}_before for values from (minvalue) to ('${first}')`)
      .execute(db);
  }
  for (let month = -12; month <= 0; month++) {
    await sql`select add_audit_log_month(date_trunc('month', ${monthsAway(month)}::timestamptz)::date)`.execute(db);
  }
  for (const each of ['add_audit_log_month', 'drop_oldest_audit_log_month']) {
    await sql.raw(`alter function ${each} set lock_timeout = '1min'`).execute(db); // however busy the machine is
  }
  return db;
}

async function insertRows(db: Database, tenantId: string, at: string, count: number): Promise<void> {
  await sql`
    insert into audit_log (tenant_id, at, operation, entity_type, entity_id, detail)
    select ${tenantId}, ${at}, 'use', 'proxy', 'p', jsonb_build_object('token_ids', jsonb_build_array(${`of ${at}`}::text, i))
    from generate_series(1, ${count}::int) as i
  `.execute(db);
  await sequenceDue({ db, ...signer });
}

async function stateOf(db: Database, tenantId: string) {
  const of = (table: 'audit_log' | 'audit_log_tokens' | 'ledger_leaves' | 'ledger_nodes') =>
    db.selectFrom(table).selectAll().where('tenant_id', '=', tenantId).execute();
  const [rows, tokens, leaves, nodes] = [
    await of('audit_log'),
    await of('audit_log_tokens'),
    await of('ledger_leaves'),
    await of('ledger_nodes'),
  ];
  const ledger = await db.selectFrom('ledgers').selectAll().where('tenant_id', '=', tenantId).executeTakeFirstOrThrow();
  return { rows: rows.length, tokens: tokens.length, leaves: leaves.length, nodes: nodes.length, ledger };
}

/** Over the dropped subtrees and the kept leaves, read from the tables. */
async function rootFromWhatIsKept(db: Database, tenantId: string): Promise<Buffer> {
  const { ledger } = await stateOf(db, tenantId);
  const leaves = new Map(
    (await db.selectFrom('ledger_leaves').selectAll().where('tenant_id', '=', tenantId).execute()).map((leaf) => [
      `0/${leaf.leaf_index}`,
      leaf.leaf_hash,
    ]),
  );
  const nodes = await db.selectFrom('ledger_nodes').selectAll().where('tenant_id', '=', tenantId).execute();
  const known = new Map([
    ...leaves,
    ...nodes.map((node): [string, Buffer] => [`${node.level}/${node.node_index}`, node.hash]),
  ]);
  const hashOf = ({ level, index }: Subtree): Buffer => {
    const found = known.get(`${level}/${index}`);
    if (found) return found;
    if (level === 0) throw new Error(`Leaf ${index} is missing`);
    const [left, right] = [0, 1].map((side) => hashOf({ level: level - 1, index: 2 * index + side })) as [
      Buffer,
      Buffer,
    ];
    return rootOf({ size: 2, hashes: [left, right] });
  };
  let frontier: Frontier = { size: ledger.dropped, hashes: subtreesOf(ledger.dropped).map(hashOf) };
  for (let index = ledger.dropped; index < ledger.size; index++) {
    frontier = addLeaf(frontier, hashOf({ level: 0, index }));
  }
  return rootOf(frontier);
}

const rootOfLedger = ({ size, frontier }: { size: number; frontier: Buffer }) => rootOf(readFrontier(size, frontier));

async function partitions(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent in ('audit_log'::regclass, 'audit_log_tokens'::regclass)
  `.execute(db);
  return rows.map((row) => row.name);
}

test('old months go whole, rows from before months too; what is left is proven by what is kept', async () => {
  await using stack = new AsyncDisposableStack();
  const db = await openDatabase(stack);
  const tenantId = await testRows(db).tenant();
  await insertRows(db, tenantId, monthsAway(-20), 300);
  await insertRows(db, tenantId, monthsAway(-5), 333);
  await insertRows(db, tenantId, monthsAway(-2), 500);
  const before = await stateOf(db, tenantId);
  await dropOldRows({ db, retentionDays: undefined, keepClosedDays: 0 });
  expect(await stateOf(db, tenantId)).toEqual(before); // control: nothing is dropped by default

  await dropOldRows({ db, retentionDays: daysFor(-3), keepClosedDays: 0 });
  const after = await stateOf(db, tenantId);
  expect([after.rows, after.tokens, after.ledger.dropped, after.leaves]).toEqual([500, 1000, 633, 500 + (633 % 16)]);
  expect(after.nodes).toBeLessThan(before.nodes);
  const left = await partitions(db);
  for (const parent of ['audit_log', 'audit_log_tokens']) {
    expect(left).not.toContain(`${parent}_before`);
    expect(left).not.toContain(name(parent, monthsAway(-4)));
    expect(left).toContain(name(parent, monthsAway(-3)));
  }
  expect(await rootFromWhatIsKept(db, tenantId)).toEqual(rootOfLedger(before.ledger));

  await insertRows(db, tenantId, monthsAway(0), 700); // the tree keeps growing
  expect(await rootFromWhatIsKept(db, tenantId)).toEqual(rootOfLedger((await stateOf(db, tenantId)).ledger));
  await dropOldRows({ db, retentionDays: daysFor(-3), keepClosedDays: 0 });
  expect((await stateOf(db, tenantId)).rows).toBe(1200);
});

test('a row that came when its month was over stays as long as what came before it, and one of a clock ahead no longer', async () => {
  await using stack = new AsyncDisposableStack();
  const db = await openDatabase(stack);
  const tenantId = await testRows(db).tenant();
  await insertRows(db, tenantId, monthsAway(-4), 40);
  await insertRows(db, tenantId, monthsAway(-2), 40);
  await insertRows(db, tenantId, monthsAway(-4), 3); // late
  await insertRows(db, tenantId, '2120-01-01T00:00:00Z', 2); // from a clock that is ahead
  await dropOldRows({ db, retentionDays: daysFor(-3), keepClosedDays: 0 });
  const late = await stateOf(db, tenantId);
  expect([late.rows, late.tokens, late.ledger.dropped]).toEqual([45, 90, 40]);
  const { rows } = await sql<{ place: string }>`
    select distinct tableoid::regclass::text as place from audit_log where tenant_id = ${tenantId} and at < ${monthsAway(-3)}
  `.execute(db);
  expect(rows).toEqual([{ place: 'audit_log_default' }]);

  await dropOldRows({ db, retentionDays: daysFor(-1), keepClosedDays: 0 });
  expect(await stateOf(db, tenantId)).toMatchObject({ rows: 2, tokens: 4, ledger: { dropped: 83 } });
});

test('rows that are written while months are dropped neither fail nor are lost, nor is a row that waits to be sequenced', async () => {
  await using stack = new AsyncDisposableStack();
  const db = await openDatabase(stack);
  const tenantId = await testRows(db).tenant();
  await insertRows(db, tenantId, monthsAway(-4), 20);
  const writer = await db.startTransaction().execute();
  await sql`
    insert into audit_log (tenant_id, at, operation, entity_type, entity_id) values (${tenantId}, ${monthsAway(-4)}, 'read', 'token', 'late')
  `.execute(writer);
  const dropping = dropOldRows({ db, retentionDays: daysFor(-3), keepClosedDays: 0 });
  await untilLockIsAwaited(db);
  await writer.commit().execute();
  await dropping;
  expect(await stateOf(db, tenantId)).toMatchObject({ rows: 1, tokens: 1, ledger: { size: 20, dropped: 20 } });
  await sequenceDue({ db, ...signer });
  expect((await stateOf(db, tenantId)).ledger.size).toBe(21);
});

test('the log of a purged Tenant goes when its days are over, also what comes later; that of others stays', async () => {
  await using stack = new AsyncDisposableStack();
  const db = await openDatabase(stack);
  const [closed, other] = [randomUUID(), await testRows(db).tenant()];
  for (const tenantId of [closed, other]) await insertRows(db, tenantId, monthsAway(0), 40);
  await dropOldRows({ db, retentionDays: undefined, keepClosedDays: 1 });
  expect((await stateOf(db, closed)).rows).toBe(40);
  await dropOldRows({ db, retentionDays: undefined, keepClosedDays: 0 });
  expect(await stateOf(db, closed)).toMatchObject({
    rows: 0,
    tokens: 0,
    leaves: 40 % 16,
    ledger: { size: 40, dropped: 40 },
  });
  await insertRows(db, closed, monthsAway(0), 1);
  expect(await stateOf(db, closed)).toMatchObject({ rows: 1, ledger: { size: 41 } }); // no second tree
  await dropOldRows({ db, retentionDays: undefined, keepClosedDays: 0 });
  expect(await stateOf(db, closed)).toMatchObject({ rows: 0, tokens: 0 });
  expect(await stateOf(db, other)).toMatchObject({ rows: 40, tokens: 80, leaves: 40 });
});

test('former names go with the rows that show them, and stay while there is no retention', async () => {
  await using stack = new AsyncDisposableStack();
  const db = await openDatabase(stack);
  const tenant_id = await testRows(db).tenant();
  const untils = [-5, -2].map(monthsAway);
  const former = { tenant_id, kind: 'proxy', id: randomUUID(), name: 'P' } as const;
  await db
    .insertInto('former_names')
    .values(untils.map((until) => ({ ...former, until })))
    .execute();
  const kept = async (retentionDays: number | undefined) => {
    await dropOldRows({ db, retentionDays, keepClosedDays: 0 });
    const rows = await db.selectFrom('former_names').select('until').orderBy('until').execute();
    return rows.map(({ until }) => until);
  };
  expect(await kept(undefined)).toEqual(untils);
  expect(await kept(daysFor(-3))).toEqual(untils.slice(1));
});

test('while a reader keeps a month in use, all else goes, and the month once the reader is done', async () => {
  await using stack = new AsyncDisposableStack();
  const db = await openDatabase(stack);
  await sql`alter function drop_oldest_audit_log_month set lock_timeout = '100ms'`.execute(db);
  const [closed, open] = [randomUUID(), await testRows(db).tenant()];
  await insertRows(db, open, monthsAway(-4), 40);
  await insertRows(db, closed, monthsAway(0), 40);
  const reader = await db.startTransaction().execute();
  await sql`lock table audit_log in access share mode`.execute(reader);
  const drop = () => dropOldRows({ db, retentionDays: daysFor(-3), keepClosedDays: 0 });
  await drop().finally(() => reader.commit().execute());
  expect(await stateOf(db, closed)).toMatchObject({ rows: 0, tokens: 0, leaves: 40 % 16, ledger: { dropped: 40 } });
  expect(await stateOf(db, open)).toMatchObject({ leaves: 40 % 16, ledger: { dropped: 40 } });
  expect(await partitions(db)).toContain(name('audit_log', monthsAway(-4)));
  await drop();
  expect(await partitions(db)).not.toContain(name('audit_log', monthsAway(-4)));
});

test('a month that cannot be dropped for another reason fails the round', async () => {
  await using stack = new AsyncDisposableStack();
  const db = await openDatabase(stack);
  await sql`drop table audit_log_tokens_before`.execute(db);
  await expect(dropOldRows({ db, retentionDays: daysFor(-3), keepClosedDays: 0 })).rejects.toThrow(
    'audit_log_tokens_before',
  );
});

describe('the signed checkpoint', () => {
  const statesOf = async (db: Database, tenantId: string) => {
    const { checkpoint } = (await stateOf(db, tenantId)).ledger;
    const name = originOf(signer.ledgerOrigin, tenantId);
    const { size, dropped } = verifyCheckpoint(checkpoint ?? '', [readVerifierLine(verifierLine({ name, publicKey }))]);
    return { size, dropped };
  };

  test('says how many rows are gone in the transaction that gives them up, and goes on to say it', async () => {
    await using stack = new AsyncDisposableStack();
    const db = await openDatabase(stack);
    const tenantId = await testRows(db).tenant();
    await sql`
      alter table ledgers add check (checkpoint is null or position(E'\\ndropped ' || dropped || E'\\n' in checkpoint) > 0)
    `.execute(db);
    await insertRows(db, tenantId, monthsAway(-4), 40);
    expect(await statesOf(db, tenantId)).toEqual({ size: 40, dropped: 0 });
    await insertRows(db, tenantId, monthsAway(-2), 3);
    await dropOldRows({ db, retentionDays: daysFor(-3), keepClosedDays: 0 });
    expect(await statesOf(db, tenantId)).toEqual({ size: 43, dropped: 40 });
    await insertRows(db, tenantId, monthsAway(0), 2);
    expect(await statesOf(db, tenantId)).toEqual({ size: 45, dropped: 40 });
    const alone = db.updateTable('ledgers').set({ dropped: 41 }).execute();
    await expect(alone).rejects.toThrow('check constraint'); // control: the check sees each write
  });

  test('is signed again where a version signed it that did not say it, and is taken away where there is no key', async () => {
    await using stack = new AsyncDisposableStack();
    const db = await openDatabase(stack);
    const [before, without] = [await testRows(db).tenant(), await testRows(db).tenant()];
    for (const tenantId of [before, without]) await insertRows(db, tenantId, monthsAway(-4), 20);
    const { ledger } = await stateOf(db, before);
    const signed = { origin: originOf(signer.ledgerOrigin, before), size: 20, root: rootOfLedger(ledger) };
    const checkpoint = signCheckpoint(signed, privateKey);
    await db.updateTable('ledgers').set({ dropped: 16, checkpoint }).where('tenant_id', '=', before).execute();
    expect(await statesOf(db, before)).toEqual({ size: 20, dropped: undefined });
    await dropOldRows({ db, retentionDays: undefined, keepClosedDays: 0 });
    expect(await statesOf(db, before)).toEqual({ size: 20, dropped: 16 });
    expect(await statesOf(db, without)).toEqual({ size: 20, dropped: 0 }); // control: nothing to say
    await dropOldRowsOf({ ...signer, privateKey: undefined, db, retentionDays: daysFor(-3), keepClosedDays: 0 });
    expect((await stateOf(db, without)).ledger).toMatchObject({ dropped: 20, checkpoint: null });
    await sequenceDue({ db, ...signer });
    expect(await statesOf(db, without)).toEqual({ size: 20, dropped: 20 });
  });
});
