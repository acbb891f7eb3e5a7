import { messageOf, unclosedTenants } from '@sluice/audit';
import { counterSlot, type Queryable } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 500;

export interface ExpiredRow {
  tenant_id: string;
  id: string;
  entity: 'application' | 'proxy';
  /** Time from `expires_at` to the deletion; null for Proxies. */
  lag_ms: number | null;
}

/** `statement_timestamp()`, because an index serves it. `clock_timestamp()` may change from row to row. */
export async function deleteDueApplications(tx: Queryable): Promise<ExpiredRow[]> {
  const { rows } = await sql<ExpiredRow>`
    with due as (
      select tenant_id, id from applications
      where expires_at <= statement_timestamp()
      order by expires_at limit ${sql.lit(batchSize)}
      for update skip locked
    ),
    deleted as (
      delete from applications using due
      where applications.tenant_id = due.tenant_id and applications.id = due.id
      returning applications.tenant_id, applications.id, applications.expires_at
    ),
    uncoupled as (
      update proxies set application_id = null, named_application_id = deleted.id from deleted
      where proxies.tenant_id = deleted.tenant_id and proxies.application_id = deleted.id
      returning proxies.tenant_id, proxies.id
    ),
    counted as (
      insert into counters (tenant_id, counter, slot, value)
      select tenant_id, 'applications', ${counterSlot}, -count(*) from deleted group by tenant_id order by tenant_id
      on conflict (tenant_id, counter, slot) do update set value = counters.value + excluded.value
    )
    select tenant_id, id, 'application' as entity,
      (extract(epoch from clock_timestamp() - expires_at) * 1000)::float8 as lag_ms
    from deleted
    union all
    select tenant_id, id, 'proxy', null from uncoupled
  `.execute(tx);
  await recordExpiry(tx, rows);
  return rows;
}

async function recordExpiry(tx: Queryable, rows: readonly ExpiredRow[]): Promise<void> {
  const expired = rows.filter(({ entity }) => entity === 'application');
  if (expired.length === 0) return;
  const tenants = expired.map(({ tenant_id }) => tenant_id);
  await sql`
    with open as (${unclosedTenants(tenants)})
    insert into audit_log (tenant_id, actor_type, operation, entity_type, entity_id, message)
    select open.id, 'system', 'expire', 'application', each.id, ${messageOf('application', 'expire')}
    from unnest(${tenants}::uuid[], ${expired.map(({ id }) => id)}::text[]) as each(tenant_id, id)
    join open on open.id = each.tenant_id
  `.execute(tx);
}

export async function listRemaining(db: Queryable, applications: readonly { tenant_id: string; id: string }[]) {
  return db
    .selectFrom('applications')
    .select(['id', 'expires_at'])
    .where('tenant_id', '=', sql<string>`any(${[...new Set(applications.map((one) => one.tenant_id))]}::uuid[])`)
    .where('id', '=', sql<string>`any(${applications.map((one) => one.id)}::uuid[])`)
    .execute();
}
