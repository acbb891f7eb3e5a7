import { deleteApplication } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import { filled, findFullScans, openFilledDatabase, recordStatements, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import * as expiry from './application-expiry/application-expiry.queries.ts';
import { deleteExpiredKeys } from './application-key-expiry/delete-expired-keys.ts';
import { readFigures } from './figures/figures.queries.ts';
import { deleteOldRecords } from './idempotency-expiry/delete-old-records.ts';
import { deleteOldCounts } from './invocation-counts/delete-old-counts.ts';
import { deleteEndedSessions } from './session-expiry/delete-ended-sessions.ts';
import * as purge from './tenant-purge/tenant-purge.queries.ts';

const large = useStack(async (stack) => {
  const { db } = await openFilledDatabase(stack);
  // One ledger in a hundred has an unwitnessed checkpoint, and one has rows from before there were ledgers
  await sql`
    insert into ledgers (tenant_id, size, checkpoint, witnessed_size, unsequenced_before)
    select gen_random_uuid(), 10, 'signed', case when i % 100 = 0 then 5 else 10 end, case when i % 100 = 1 then 5 else 0 end
    from generate_series(1, 20000) as i
  `.execute(db);
  await sql`analyze ledgers`.execute(db);
  return db;
});

const tenantId = filled.tenantId(3);
const closedTenantId = filled.tenantId(999);

type Query = (db: Database) => Promise<unknown>;

/** Has one entry for each query function, so that none can be forgotten. */
type Covered<Module> = {
  [Name in keyof Module as Module[Name] extends (db: never, ...rest: never[]) => Promise<unknown> ? Name : never]:
    | Query
    | Query[];
};

const queries = {
  expiry: {
    deleteDueApplications: (db) => expiry.deleteDueApplications(db),
    listRemaining: (db) => expiry.listRemaining(db, [{ tenant_id: tenantId, id: filled.applicationId(13) }]),
  } satisfies Covered<typeof expiry>,
  purge: {
    listClosedTenants: (db) => purge.listClosedTenants(db, closedTenantId),
    purgeRows: purge.purgedTables.map((table) => (db: Database) => purge.purgeRows(db, table, filled.tenantId(4))),
    deleteTenantRow: (db) => purge.deleteTenantRow(db, closedTenantId),
  } satisfies Covered<typeof purge>,
  others: {
    deleteApplication: (db) => deleteApplication(db, tenantId, filled.applicationId(23)),
    deleteExpiredKeys: (db) => deleteExpiredKeys(db),
    deleteEndedSessions: (db) => deleteEndedSessions(db),
    deleteOldRecords: (db) => deleteOldRecords(db, tenantId),
    deleteOldCounts: (db) => deleteOldCounts(db, tenantId),
  } satisfies Record<string, Query>,
};

const cases = Object.values(queries).flatMap((module) =>
  Object.entries<Query | Query[]>(module).flatMap(([name, one]) => [one].flat().map((query) => [name, query] as const)),
);

test.each(cases)('%s reads through an index at 100,000 rows', async (_name, query) => {
  const { db, statements } = recordStatements(large.current);
  await query(db);
  expect(statements.length).toBeGreaterThan(0);
  expect(await findFullScans(large.current, statements)).toEqual([]);
});

test('figures read no table as a whole but leases and what waits', async () => {
  const { db, statements } = recordStatements(large.current);
  expect((await readFigures(db)).errors).toEqual([]);
  const scans = (await findFullScans(large.current, statements)).map((scan) => scan.slice(0, scan.indexOf(':')));
  const small = ['Seq Scan of changes', 'Index Only Scan of changes_age', 'Seq Scan of cache_leases'];
  small.push('Seq Scan of audit_log_arrivals', 'Seq Scan of audit_log_default'); // the latter up to a limit
  const ofWhatWaits = /^(Bitmap )?Index( Only)? Scan of (ledgers_(before|unwitnessed)|reactor_runs_waiting)$/; // they hold nothing else
  expect(scans.filter((scan) => !small.includes(scan) && !ofWhatWaits.test(scan))).toEqual([]);
});

test('closed Tenants are listed from an index that holds no others', async () => {
  const { db, statements } = recordStatements(large.current);
  expect(await purge.listClosedTenants(db)).toHaveLength(100);
  expect(await findFullScans(large.current, statements)).toEqual([
    expect.stringMatching(/^(Bitmap )?Index( Only)? Scan of tenants_closed: /),
  ]);
});
