import type { Database } from '@sluice/database';
import { sql } from 'kysely';

/** Adds this month, the next two, and missed past ones, whose rows then leave the default partition. */
export async function addComingMonths(db: Database): Promise<void> {
  for (const month of await listMissingMonths(db)) {
    // If another worker holds the lock, the months are left to it or to the next round
    await sql`
      select add_audit_log_month(${month}::date) where pg_try_advisory_xact_lock(hashtext('audit_log_months'))
    `.execute(db);
  }
}

/** Oldest first, from the last partition on. A month that fails ends the round, so that none is ever skipped. */
async function listMissingMonths(db: Database): Promise<string[]> {
  const { rows } = await sql<{ month: string }>`
    with latest as (
      select max(substring(pg_get_expr(part.relpartbound, part.oid) from 'TO [(]''(.+)''[)]')::timestamptz) as ends_at
      from pg_inherits join pg_class as part on part.oid = inhrelid
      where inhparent = 'audit_log'::regclass
    )
    select to_char(month, 'YYYY-MM-DD') as month
    from latest, generate_series(
      ends_at at time zone 'UTC',
      date_trunc('month', now() at time zone 'UTC') + interval '2 months',
      interval '1 month'
    ) as month
    order by month
  `.execute(db);
  return rows.map(({ month }) => month);
}
