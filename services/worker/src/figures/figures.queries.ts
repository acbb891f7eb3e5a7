import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';

/** What is in Postgres and waits for somebody. Ages are in seconds; 0 where nothing waits. */
export interface Figures {
  /** The outbox: changes that are committed and not yet confirmed. */
  changes: number;
  oldestChange: number;
  leasesHeld: number;
  leasesExpired: number;
  /** How long the oldest that is due has not been deleted. */
  dueApplication: number;
  dueToken: number;
  dueCvc: number;
  closedTenant: number;
  /** Rows of the audit log that are in no tree yet. */
  unsequencedRows: number;
  oldestArrival: number;
  /** Ledgers whose newest checkpoint no witness has taken. */
  unwitnessedLedgers: number;
  /** Rows of the audit log that stand in no month of their own, counted up to {@link mostCounted}. */
  rowsInNoMonth: number;
}

export const mostCounted = 100_000;

const age = (moment: string) =>
  sql`coalesce(greatest(extract(epoch from statement_timestamp() - ${sql.raw(moment)}), 0), 0)::float8`;

/** Each from the end of an index, or from a table that is small: leases, and what is left of outbox and arrivals. */
export async function readFigures(db: Queryable): Promise<Figures> {
  const { rows } = await sql<Figures>`
    select
      (select count(distinct id) from changes) as "changes",
      (select ${age('min(created_at)')} from changes) as "oldestChange",
      (select count(*) from cache_leases where expires_at > statement_timestamp()) as "leasesHeld",
      (select count(*) from cache_leases where expires_at <= statement_timestamp()) as "leasesExpired",
      (select ${age('min(expires_at)')} from applications where expires_at <= statement_timestamp()) as "dueApplication",
      (select ${age('min(expires_at)')} from tokens where expires_at <= statement_timestamp()) as "dueToken",
      (select ${age('min(cvc_due_at)')} from tokens where cvc_due_at <= statement_timestamp()) as "dueCvc",
      (select ${age('min(closed_at)')} from tenants where closed_at <= statement_timestamp()) as "closedTenant",
      (select coalesce(sum(cardinality(ids)), 0) from audit_log_arrivals)::float8
        + (select coalesce(sum(unsequenced_before), 0) from ledgers where unsequenced_before > 0)::float8 as "unsequencedRows",
      (select ${age('min(arrived_at)')} from audit_log_arrivals) as "oldestArrival",
      (select count(*) from ledgers where checkpoint is not null and size > witnessed_size) as "unwitnessedLedgers",
      (select count(*) from (select from audit_log_default limit ${sql.lit(mostCounted)}) as counted) as "rowsInNoMonth"
  `.execute(db);
  const [figures] = rows;
  if (!figures) throw new Error('Postgres answered without a row');
  return figures;
}
