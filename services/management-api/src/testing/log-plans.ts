import { randomUUID } from 'node:crypto';
import { connectDatabase, type Database } from '@sluice/database';
import {
  countBuffers,
  countRowsRead,
  eventually,
  findIndexes,
  openTestDatabase,
  recordStatements,
  useStack,
} from '@sluice/testing';
import { sql } from 'kysely';
import { hashRanges } from '../logs/ledger.queries.ts';
import { countAllLogs, countFilteredLogs, type LogFilter, listLogs } from '../logs/log.queries.ts';
import { exportLog } from '../logs/log-export.ts';
import { proveConsistency, proveRow } from '../logs/prove-row.ts';

const tenantId = randomUUID();
const idOf = (n: string) => sql.raw(`('00000000-0000-4000-800a-' || lpad((${n})::text, 12, '0'))::uuid`);
const someId = '00000000-0000-4000-800a-000000000003';

/** Nine of ten rows belong to the Tenant, which makes a full scan attractive. The rows bypass the triggers. */
async function openLargeLog(stack: AsyncDisposableStack, rowCount: number): Promise<Database> {
  const { url } = await openTestDatabase(stack);
  const options = { stack, onError: (error: Error) => console.error(error), statementTimeoutMs: 0 };
  const patient = connectDatabase({ DATABASE_URL: url, DATABASE_POOL_SIZE: 10 }, options);
  await patient.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    // Building the indexes afterwards takes half the time
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
        select tenant_id, id, at, ${idOf('n % 100')}, case when n % 100 = 7 then 'update' else 'use' end,
          case when n % 100 = 7 then 'application' else 'proxy' end, ${idOf('n % 100')}::text, 'trace-' || n
        from row
      ), tokens as (
        insert into audit_log_tokens (tenant_id, token_id, at, log_id)
        select tenant_id, 'token-' || n % 1000, at, id from row
      ), ledger as (
        insert into ledgers (tenant_id, size, checkpoint) select tenant_id, count(*), 'signed' from row group by tenant_id
      ), nodes as (
        insert into ledger_nodes (tenant_id, level, node_index, hash)
        select ${tenantId}::uuid, level, i, '' from generate_series(4, 20, 4) as level,
          generate_series(0, (${rowCount}::int >> level)) as i
      )
      insert into ledger_leaves (tenant_id, leaf_index, log_id, at, kept_at, leaf_version, leaf_hash)
      select tenant_id, row_number() over (partition by tenant_id order by n desc) - 1, id, at, at, 1, '' from row
    `.execute(tx);
    for (const { definition } of indexes) await sql.raw(definition).execute(tx);
    await sql`analyze audit_log, audit_log_tokens, ledgers, ledger_leaves, ledger_nodes`.execute(tx);
  });
  return patient;
}

const indexOf = {
  newest: 'audit_log_newest',
  entity: 'audit_log_entity',
  actor: 'audit_log_actor',
  verb: 'audit_log_verb',
  trace: 'audit_log_trace',
  tokens: 'audit_log_tokens_newest',
};

/** Another index than the one named would read a hundred times as many rows. */
const filters: [string, LogFilter, keyof typeof indexOf][] = [
  ['no filter', {}, 'newest'],
  ['entity_id', { entity_id: someId }, 'entity'],
  ['entity_id in capitals', { entity_id: someId.toUpperCase() }, 'entity'],
  ['actor_id', { actor_id: someId }, 'actor'],
  ['entity_type', { entity_type: 'application' }, 'verb'],
  ['operation', { operation: 'update' }, 'verb'],
  ['token_id', { token_id: 'token-13' }, 'tokens'],
  ['trace_id', { trace_id: 'trace-13' }, 'trace'],
  ['start_date', { start_date: '2020-01-01T00:00:00Z' }, 'newest'],
  ['end_date', { end_date: new Date().toISOString() }, 'newest'],
  ['type and verb that most rows have', { entity_type: 'proxy', operation: 'use' }, 'verb'],
];

/** Including the row that shows whether there is a next page. */
const pageSize = 21;
const mostCounted = 10_001;

async function readingOf(db: Database, filter: LogFilter) {
  const recorded = recordStatements(db);
  const page = { size: pageSize - 1, hold: () => undefined };
  const after = { at: new Date().toISOString(), id: randomUUID() };
  expect(await listLogs(recorded.db, tenantId, { filter, ...page })).not.toEqual([]);
  await listLogs(recorded.db, tenantId, { filter, ...page, after });
  await countFilteredLogs(recorded.db, tenantId, filter);
  return recorded.statements;
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

export function testPlans(rowCount: number): void {
  const large = useStack((stack) => openLargeLog(stack, rowCount), 600_000);
  const rows = rowCount.toLocaleString('en');
  // Besides the rows: the row in each partition that ends the scan, and a look at the ledger
  const mostOfPage = 3 * pageSize + 40;

  test.each(filters)(`GET /logs by %s reads as many rows as it shows at ${rows} rows`, async (_name, filter, index) => {
    const statements = await readingOf(large.current, filter);
    const [measured = 0, page = 0, measuredNext = 0, next = 0, ledger = 0, total = 0] = await countRowsRead(
      large.current,
      statements,
    );
    expect(Math.max(measured, page, measuredNext, next)).toBeLessThanOrEqual(mostOfPage);
    expect(ledger + total).toBeLessThanOrEqual(mostCounted + 40); // one for each counted row
    const { rows: expected } = await sql<{ name: string }>`
      select inhrelid::regclass::text as name from pg_inherits where inhparent = ${indexOf[index]}::regclass
    `.execute(large.current);
    const used = await findIndexes(large.current, statements.slice(0, 1));
    expect(expected.filter(({ name }) => used.includes(name))).not.toEqual([]);
  });

  test.each([
    ...new Map(filters.map(([, filter, index]): [keyof typeof indexOf, LogFilter] => [index, filter]).reverse()),
  ])(`the control: without the index %s the filter that needs it reads more at ${rows} rows`, async (index, filter) => {
    const statements = await readingOf(large.current, filter);
    const tx = await large.current.startTransaction().execute();
    try {
      await sql`set local statement_timeout = 0`.execute(tx); // the plan without the index is slow
      await sql`drop index ${sql.ref(indexOf[index])}`.execute(tx);
      const counts = await countRowsRead(tx as unknown as Database, statements.slice(0, 1));
      expect(sum(counts)).toBeGreaterThan(mostOfPage);
    } finally {
      await tx.rollback().execute();
    }
  });

  test.each(filters)(
    `a piece of an export by %s reads no more than its rows at ${rows} rows`,
    async (_name, filter) => {
      const recorded = recordStatements(large.current);
      for (const start of [0, rowCount / 2]) {
        for await (const _piece of exportLog(recorded.db, { tenantId, filter, start, format: 'ndjson' })) break;
      }
      // A piece of a thousand rows and the next one ahead; with a filter, all matches are read for each of them
      const most = Object.keys(filter).length === 0 ? 2100 : 2 * mostCounted + 2100;
      for (const count of await countRowsRead(large.current, recorded.statements.filter(isRead))) {
        expect(count).toBeLessThanOrEqual(most);
      }
    },
  );

  test(`a deep page of GET /logs reads an index of ids on the way, and rows for itself alone (${rows})`, async () => {
    const offset = Math.floor(rowCount / 2);
    const recorded = recordStatements(large.current);
    const hold = () => undefined;
    expect(await listLogs(recorded.db, tenantId, { filter: {}, size: pageSize - 1, offset, hold })).toHaveLength(
      pageSize,
    );
    await eventually('all rows are visible', async () => {
      await sql`vacuum audit_log`.execute(large.current);
      const { rows: parts } = await sql`select from pg_class where oid in (
        select inhrelid from pg_inherits where inhparent = 'audit_log'::regclass) and relallvisible < 0.99 * relpages`.execute(
        large.current,
      );
      return parts.length === 0;
    });
    const keysRead = offset / 60; // pages of the index
    expect(await countBuffers(large.current, recorded.statements.slice(-1))).toBeLessThan(keysRead + 10 * pageSize);
    // The control: the rows on the way
    const whole = sql`select log.* from audit_log as log where tenant_id = ${tenantId} order by at desc, id desc offset ${offset} limit 1`;
    expect(await countBuffers(large.current, [whole.compile(large.current)])).toBeGreaterThan(keysRead + 10 * pageSize);
  });

  test(`the total without a filter, and proofs, read a few rows however many there are (${rows})`, async () => {
    const size = Math.floor(0.9 * rowCount);
    const recorded = recordStatements(large.current);
    await countAllLogs(recorded.db, tenantId);
    const row = await large.current
      .selectFrom('ledger_leaves')
      .select('log_id')
      .where('tenant_id', '=', tenantId)
      .where('leaf_index', '=', Math.floor(size / 3))
      .executeTakeFirstOrThrow();
    await proveRow(recorded.db, tenantId, row.log_id);
    await proveConsistency(recorded.db, tenantId, { from: Math.floor(size / 3), to: size });
    const counts = await countRowsRead(large.current, recorded.statements.filter(isRead));
    // At most 16 stored hashes for each stored level on either side of the path
    const levels = Math.ceil(Math.log2(size) / 4);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2 * 16 * levels);
    const all = recordStatements(large.current);
    await hashRanges(
      all.db,
      tenantId,
      Array.from({ length: 1000 }, (_, i) => ({ start: 16 * i, end: 16 * i + 15 })),
    );
    expect(sum(await countRowsRead(large.current, all.statements))).toBeGreaterThan(2 * 16 * levels); // control
  });
}

const isRead = ({ sql: text }: { sql: string }) => /^\s*(with|select)/i.test(text);
