import { randomUUID } from 'node:crypto';
import { connectDatabase } from '@sluice/database';
import { createTestDatabase, findFullScans, recordStatements, useStack } from '@sluice/testing';
import { type RawBuilder, sql } from 'kysely';
import { countAllLogs, countFilteredLogs, type LogFilter, listLogs } from './log.queries.ts';
import { exportLog } from './log-export.ts';

const rowCount = 100_000;
const tenantId = randomUUID();
const idOf = (n: string) => sql.raw(`('00000000-0000-4000-8000-' || lpad((${n})::text, 12, '0'))::uuid`);
const someId = '00000000-0000-4000-8000-000000000003';

/** Nine rows of ten belong to the Tenant, so that going through the whole table would be tempting. Past the triggers. */
const large = useStack(async (stack) => {
  const { db, url } = await createTestDatabase(stack);
  const options = { stack, onError: (error: Error) => console.error(error), statementTimeoutMs: 0 };
  const patient = connectDatabase({ DATABASE_URL: url, DATABASE_POOL_SIZE: 1 }, options);
  await patient.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    // To build them anew takes half the time.
    const { rows: indexes } = await sql<{ name: string; definition: string }>`
      select indexname as name, replace(indexdef, ' ON ONLY ', ' ON ') as definition
      from pg_indexes where tablename in ('audit_log', 'audit_log_tokens')
    `.execute(tx);
    for (const { name } of indexes) await sql`drop index ${sql.ref(name)}`.execute(tx);
    await sql`
      with row as (
        select n, ${idOf('n')} as id, now() - n * interval '1 second' as at,
          case when n % 10 > 0 then ${tenantId}::uuid else ${idOf('0')} end as tenant_id
        from generate_series(1, ${rowCount}::int) as n
      ), logs as (
        insert into audit_log (tenant_id, id, at, actor_id, operation, entity_type, entity_id, trace_id)
        select tenant_id, id, at, ${idOf('n % 100')}, 'use', 'proxy', ${idOf('n % 100')}::text, 'trace-' || n from row
      ), tokens as (
        insert into audit_log_tokens (tenant_id, token_id, at, log_id)
        select tenant_id, 'token-' || n % 1000, at, id from row
      ), ledger as (
        insert into ledgers (tenant_id, size) select tenant_id, count(*) from row group by tenant_id
      )
      insert into ledger_leaves (tenant_id, leaf_index, log_id, at, kept_at, leaf_version, leaf_hash)
      select tenant_id, row_number() over (partition by tenant_id order by n desc) - 1, id, at, at, 1, '' from row
    `.execute(tx);
    for (const { definition } of indexes) await sql.raw(definition).execute(tx);
    await sql`analyze audit_log, audit_log_tokens, ledger_leaves`.execute(tx);
  });
  return db;
}, 120_000);

const filters: [string, LogFilter][] = [
  ['no filter', {}],
  ['entity_id', { entity_id: someId }],
  ['actor_id', { actor_id: someId }],
  ['entity_type', { entity_type: 'proxy' }],
  ['operation', { operation: 'use' }],
  ['token_id', { token_id: 'token-13' }],
  ['trace_id', { trace_id: 'trace-13' }],
  ['start_date', { start_date: '2020-01-01T00:00:00Z' }],
  ['end_date', { end_date: new Date().toISOString() }],
  ['all but dates', { entity_type: 'proxy', operation: 'use', entity_id: someId, actor_id: someId }],
];

/** The statements of both operations: the first pieces of an export, which are those of every piece. */
async function recorded(filter: LogFilter) {
  const { db, statements } = recordStatements(large.current);
  const after = { at: new Date().toISOString(), id: randomUUID() };
  expect(await listLogs(db, tenantId, { filter, limit: 21 })).not.toEqual([]);
  await listLogs(db, tenantId, { filter, limit: 21, after });
  await countFilteredLogs(db, tenantId, filter);
  await countAllLogs(db, tenantId);
  for (const start of [0, rowCount / 2]) {
    for await (const _piece of exportLog(db, { tenantId, filter, start, format: 'ndjson' })) break;
  }
  return statements;
}

/** The other partitions are empty, and so is what waits for the ledger. */
const ofFilled = (scans: string[]) =>
  scans.filter((scan) => /^.* of (audit_log(_tokens)?_before|ledger_leaves)/.test(scan));

test.each(filters)('GET /logs and its export by %s go through no table at 100,000 rows', async (_name, filter) => {
  expect(ofFilled(await findFullScans(large.current, await recorded(filter)))).toEqual([]);
});

test.each([
  ['rows', sql`drop index audit_log_newest, audit_log_entity, audit_log_actor, audit_log_verb, audit_log_trace`],
  ['tokens', sql`drop index audit_log_tokens_newest`],
])('the control: without the indexes of the %s it finds a scan', async (_name, change: RawBuilder<unknown>) => {
  const statements = await recorded({ token_id: 'token-13' });
  const tx = await large.current.startTransaction().execute();
  try {
    await change.execute(tx);
    expect(ofFilled(await findFullScans(tx, statements))).toContainEqual(expect.stringMatching(/^Seq Scan of /));
  } finally {
    await tx.rollback().execute();
  }
});
