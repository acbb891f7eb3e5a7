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
}

const age = (moment: string) =>
  sql`coalesce(greatest(extract(epoch from statement_timestamp() - ${sql.raw(moment)}), 0), 0)::float8`;

/** Each from the end of an index, or from a table that is small: leases, and what of the outbox is left. */
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
      (select ${age('min(closed_at)')} from tenants where closed_at <= statement_timestamp()) as "closedTenant"
  `.execute(db);
  const [figures] = rows;
  if (!figures) throw new Error('Postgres answered without a row');
  return figures;
}
