import { randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';
import { filled, findFullScans, openTestDatabase, recordStatements, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import * as changes from './change.queries.ts';
import * as leases from './lease.queries.ts';

const large = useStack(async (stack) => {
  const { db } = await openTestDatabase(stack);
  await sql`insert into changes (tenant_id, id, tags, created_at)
    select ('00000000-0000-4000-8000-' || lpad((n % 1000)::text, 12, '0'))::uuid, gen_random_uuid(), '{proxy:1}',
      now() - n * interval '1 millisecond'
    from generate_series(1, 10000) n`.execute(db);
  await sql`insert into cache_leases (holder_id, service, expires_at)
    select gen_random_uuid(), 'test', now() + interval '1 hour' from generate_series(1, 10000)`.execute(db);
  await sql`vacuum analyze changes, cache_leases`.execute(db);
  return db;
});

type Query = (db: Database) => Promise<unknown>;

/** One entry for each query function, so that none can be forgotten. */
type Covered<Module, Except extends string = never> = {
  [Name in Exclude<keyof Module, Except> as Module[Name] extends (db: never, ...rest: never[]) => Promise<unknown>
    ? Name
    : never]: Query;
};

const holderId = randomUUID();
const recorded = (n: number) => ({ id: randomUUID(), tenantIds: [filled.tenantId(n)], tags: ['proxy:1'] });
const batch = Array.from({ length: 300 }, (_, n) => recorded(n));

const queries = {
  changes: {
    insertChanges: (db) => changes.insertChanges(db, randomUUID(), new Map([[randomUUID(), ['proxy:1']]])),
    deleteChanges: (db) => changes.deleteChanges(db, batch),
    findUnconfirmed: (db) => changes.findUnconfirmed(db, filled.tenantId(1), ['proxy:1']),
    listForgottenChanges: (db) => changes.listForgottenChanges(db, 3000),
  } satisfies Covered<typeof changes>,
  // The excepted two read the whole table, which has one row for each process.
  leases: {
    renewLease: (db) => leases.renewLease(db, holderId, ['change']),
    deleteLease: (db) => leases.deleteLease(db, holderId),
    deleteExpiredLease: (db) => leases.deleteExpiredLease(db, holderId),
    postToMailbox: (db) => leases.postToMailbox(db, holderId, [{ id: 'change', tags: ['proxy:1'] }]),
  } satisfies Covered<typeof leases, 'listLeases' | 'insertLease'>,
  others: {
    'postToMailbox, to look only': (db) => leases.postToMailbox(db, holderId, []),
    'deleteChanges, of one': (db) => changes.deleteChanges(db, [recorded(1)]),
    'listForgottenChanges, where almost none is': (db) => changes.listForgottenChanges(db, 9990),
  } satisfies Record<string, Query>,
};

const cases = Object.values(queries).flatMap((module) => Object.entries<Query>(module));

test.each(cases)('%s reads through an index at 10,000 rows', async (_name, query) => {
  const { db, statements } = recordStatements(large.current);
  await query(db);
  expect(statements.length).toBeGreaterThan(0);
  expect(await findFullScans(large.current, statements)).toEqual([]);
});

test('the test itself would find changes that are looked for by what has no index', async () => {
  const { db, statements } = recordStatements(large.current);
  await db.selectFrom('changes').select('id').where('id', '=', randomUUID()).execute();
  expect(await findFullScans(large.current, statements)).toEqual([expect.stringMatching(/Scan of changes/)]);
});
