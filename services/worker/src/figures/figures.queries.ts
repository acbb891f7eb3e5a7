import { newestMigration, type Queryable } from '@sluice/database';
import { sql } from 'kysely';

export const mostCounted = 100_000;

/** In seconds; 0 if the moment is null. */
const age = (moment: string) =>
  sql`coalesce(greatest(extract(epoch from statement_timestamp() - ${sql.raw(moment)}), 0), 0)::float8`;

const due = (moment: string, table: string) =>
  sql`select ${age(`min(${moment})`)} from ${sql.table(table)} where ${sql.ref(moment)} <= statement_timestamp()`;

/**
 * `due_tokens` has a row for each minute with due tokens. Its age counts from when it should have been deleted, so no
 * shard is queried.
 */
const dueTokens = (kind: string) => sql`
  select ${age(`(min(due_at) + interval '2 minutes')`)} from due_tokens
  where kind = ${kind} and due_at <= statement_timestamp()`;

/** Processes of a version before, which may ignore what this version can forbid. */
const outdatedLeases = (service: string) => sql`
  select count(*) from cache_leases
  where service = ${service} and expires_at > statement_timestamp()
    and coalesce(knows, '') collate "C" < ${newestMigration}`;

/** Each reads the end of an index, or a small table. Ages are in seconds. */
const queries = {
  changes: sql`select count(distinct id) from changes`,
  oldestChange: sql`select ${age('min(created_at)')} from changes`,
  leasesHeld: sql`select count(*) from cache_leases where expires_at > statement_timestamp()`,
  leasesExpired: sql`select count(*) from cache_leases where expires_at <= statement_timestamp()`,
  outdatedManagement: outdatedLeases('management-api'),
  outdatedVaults: outdatedLeases('token-vault'),
  outdatedGateways: outdatedLeases('proxy-gateway'),
  dueApplication: due('expires_at', 'applications'),
  dueToken: dueTokens('expiry'),
  dueCvc: dueTokens('cvc'),
  closedTenant: due('closed_at', 'tenants'),
  runsWaiting: sql`select count(*) from reactor_runs where state = 'waiting'`,
  oldestRun: sql`select ${age('min(created_at)')} from reactor_runs where state = 'waiting'`,
  unsequencedRows: sql`
    select (select coalesce(sum(cardinality(ids)), 0) from audit_log_arrivals)::float8
      + (select coalesce(sum(unsequenced_before), 0) from ledgers where unsequenced_before > 0)::float8`,
  oldestArrival: sql`select ${age('min(arrived_at)')} from audit_log_arrivals`,
  unwitnessedLedgers: sql`select count(*) from ledgers where checkpoint is not null and size > witnessed_size`,
  /** Rows of the default partition, counted up to {@link mostCounted}. */
  rowsInNoMonth: sql`select count(*) from (select from audit_log_default limit ${sql.lit(mostCounted)}) as counted`,
} as const;

export type Figure = keyof typeof queries;
export type Figures = ReadonlyMap<Figure, number>;

/** A failing figure does not hide others. Each may take the connection timeout, so none is read after `stopping`. */
export async function readFigures(
  db: Queryable,
  stopping?: AbortSignal,
): Promise<{ figures: Figures; errors: unknown[] }> {
  const figures = new Map<Figure, number>();
  const errors: unknown[] = [];
  for (const name of Object.keys(queries) as Figure[]) {
    if (stopping?.aborted) break;
    try {
      const { rows } = await sql<{ value: number }>`select (${queries[name]}) as value`.execute(db);
      for (const { value } of rows) figures.set(name, value);
    } catch (error) {
      errors.push(error);
    }
  }
  return { figures, errors };
}
