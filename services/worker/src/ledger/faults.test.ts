import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { connectDatabase, type Database } from '@sluice/database';
import {
  addLeaf,
  consistencyRanges,
  isConsistent,
  joinSubtrees,
  originOf,
  type Range,
  readFrontier,
  readVerifierLine,
  subtreesIn,
  verifierLine,
  verifyCheckpoint,
} from '@sluice/ledger';
import { eventually, openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { type Cut, openStatementDoor } from '../testing/statement-door.ts';
import { listDueTenants } from './ledger.queries.ts';
import { sequenceDue } from './sequence.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const ledgerOrigin = 'sluice.example';
/** More than the leaves of the smallest stored subtree, so that each pass writes to each table. */
const rowCount = 20;

/** The added table keeps every committed checkpoint, because anybody could have seen it. */
async function openLedger(stack: AsyncDisposableStack) {
  const { db, url } = await openTestDatabase(stack);
  await sql
    .raw(`
    create table seen_checkpoints (n bigint generated always as identity, tenant_id uuid, checkpoint text);
    create function see() returns trigger language plpgsql as $$ begin
      insert into seen_checkpoints (tenant_id, checkpoint) values (new.tenant_id, new.checkpoint); return null;
    end $$;
    create trigger see after update on ledgers for each row execute function see()`)
    .execute(db);
  const door = await openStatementDoor(url, stack);
  const throughDoor = connectDatabase({ DATABASE_URL: door.url, DATABASE_POOL_SIZE: 1 }, { stack, onError: () => {} });
  return { db, door, throughDoor };
}

const ledger = useStack(openLedger);
const bare = useStack(async (stack) => {
  const opened = await openLedger(stack);
  for (const table of ['ledger_leaves', 'ledger_nodes']) {
    await sql.raw(`alter table ${table} drop constraint ${table}_pkey`).execute(opened.db);
  }
  return opened;
});

const sequence = (db: Database) => sequenceDue({ db, privateKey, ledgerOrigin });

const insertRows = (db: Database, tenantId: string) =>
  sql`
    insert into audit_log (tenant_id, operation, entity_type, entity_id)
    select ${tenantId}, 'use', 'proxy', 'p' from generate_series(1, ${rowCount}::int)
  `.execute(db);

/** Postgres may briefly hold the lock of a killed worker. */
const catchUp = (db: Database) =>
  eventually('nothing waits to be sequenced', async () => {
    await sequence(db);
    return (await listDueTenants(db)).length === 0;
  });

async function examine(db: Database, tenantId: string): Promise<{ faults: string[]; checkpoints: number }> {
  const leaves = await db
    .selectFrom('ledger_leaves')
    .select(['leaf_index', 'log_id', 'leaf_hash'])
    .where('tenant_id', '=', tenantId)
    .orderBy('leaf_index')
    .execute();
  const log = await db.selectFrom('audit_log').select('id').where('tenant_id', '=', tenantId).execute();
  const { rows: seen } = await sql<{ checkpoint: string }>`
    select checkpoint from seen_checkpoints where tenant_id = ${tenantId} order by n
  `.execute(db);
  const faults: string[] = [];
  const ids = new Set(leaves.map(({ log_id }) => log_id));
  if (ids.size !== leaves.length || log.length !== leaves.length || log.some(({ id }) => !ids.has(id))) {
    faults.push('not every row is in the tree once');
  }
  if (leaves.some(({ leaf_index }, i) => leaf_index !== i)) faults.push('leaves are not numbered without a gap');

  const nodes = new Map<string, Buffer>();
  let frontier = readFrontier(0, Buffer.alloc(0));
  for (const { leaf_hash } of leaves) {
    frontier = addLeaf(frontier, leaf_hash, (node) => void nodes.set(`${node.level}/${node.index}`, node.hash));
  }
  const hashOf = (range: Range) =>
    joinSubtrees(subtreesIn(range).map(({ level, index }) => nodes.get(`${level}/${index}`) ?? Buffer.alloc(32)));
  const verifier = readVerifierLine(verifierLine({ name: originOf(ledgerOrigin, tenantId), publicKey }));
  const checkpoints = seen.map(({ checkpoint }) => verifyCheckpoint(checkpoint, [verifier]));
  if (checkpoints.at(-1)?.size !== log.length) faults.push('the last checkpoint is not that of all rows');
  for (const [i, newer] of checkpoints.entries()) {
    for (const older of checkpoints.slice(0, i)) {
      const ranges = older.size > newer.size ? [] : consistencyRanges(older.size, newer.size);
      if (!isConsistent(older, newer, ranges.map(hashOf))) {
        faults.push(`the checkpoint of ${newer.size} rows contradicts that of ${older.size}`);
      }
    }
  }
  return { faults, checkpoints: checkpoints.length };
}

test.each([
  ['alone', false],
  ['beside another worker', true],
])(
  'a worker %s that is killed before or after any statement of a pass: each row once, no root contradicted',
  async (_name, isBeside) => {
    const { db, door, throughDoor } = ledger.current;
    const tenantId = randomUUID();
    await insertRows(db, tenantId);
    await sequence(throughDoor); // connects
    await insertRows(db, tenantId);
    const before = door.count();
    await sequence(throughDoor);
    const statements = door.count() - before;
    expect(statements).toBeGreaterThanOrEqual(10); // due, begin, ledger, lock, settings, arrivals, leaves, nodes, ledger, commit
    let killed = 0;
    for (let n = 1; n <= statements; n++) {
      for (const cut of ['before', 'after'] satisfies Cut[]) {
        await insertRows(db, tenantId);
        const takeBack = door.cutAt(n, cut);
        const [one] = await Promise.allSettled([sequence(throughDoor), ...(isBeside ? [sequence(db)] : [])]);
        if (one.status === 'rejected') killed += 1;
        takeBack(); // the other worker may have left it too little to do
        await catchUp(throughDoor);
        await catchUp(db);
      }
    }
    const { faults, checkpoints } = await examine(db, tenantId);
    expect(faults).toEqual([]);
    expect(checkpoints).toBeGreaterThanOrEqual(2 * statements);
    if (!isBeside) expect(killed).toBe(2 * statements);
  },
);

const withoutLock = (db: Database): Database =>
  db.withPlugin({
    transformQuery({ node }) {
      if (node.kind !== 'SelectQueryNode') return node;
      const { endModifiers: _forUpdate, ...unlocked } = node;
      return unlocked;
    },
    transformResult: async ({ result }) => result,
  });

/** A worker stops between taking rows and numbering them, more rows arrive, and a second worker begins. */
async function overtake({ db, door, throughDoor }: typeof ledger.current, unlock: (db: Database) => Database) {
  const tenantId = randomUUID();
  await insertRows(db, tenantId);
  await sequence(throughDoor);
  await insertRows(db, tenantId);
  const { reached, release } = door.holdAt(7); // due, begin, ledger, lock, settings, arrivals
  const first = sequence(unlock(throughDoor));
  await reached;
  await insertRows(db, tenantId);
  let isOver = false;
  const second = sequence(unlock(db)).finally(() => {
    isOver = true;
  });
  const settled = [Promise.allSettled([first]), Promise.allSettled([second])] as const;
  await eventually('the second worker is over, or waits for the first', async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `.execute(db);
    return isOver || rows.length > 0;
  });
  const nextPass = door.holdAt(4); // nodes, ledger, commit, due: the first would take the rows that the second waits for
  release();
  await settled[1];
  nextPass.release();
  const outcome = (await Promise.all(settled)).flat().map(({ status }) => status);
  await catchUp(db);
  return { outcome, ...(await examine(db, tenantId)) };
}

const locked = (db: Database) => db;

test('a second worker passes by a ledger that the first one has', async () => {
  expect(await overtake(ledger.current, locked)).toMatchObject({ outcome: ['fulfilled', 'fulfilled'], faults: [] });
  expect(await overtake(bare.current, locked)).toMatchObject({ outcome: ['fulfilled', 'fulfilled'], faults: [] });
});

test('the control: without the lock the keys of the tables stop it, without both a root is contradicted', async () => {
  const stopped = await overtake(ledger.current, withoutLock);
  expect(stopped).toMatchObject({ outcome: ['fulfilled', 'rejected'], faults: [] });
  const { faults } = await overtake(bare.current, withoutLock);
  expect(faults).toContain('leaves are not numbered without a gap');
  expect(faults).toContainEqual(expect.stringMatching(/^the checkpoint of 40 rows contradicts that of 40$/));
});
