import { connectPostgres } from '@sluice/testing';
import type { Site } from '../cluster/site.ts';
import type { World } from './world.ts';

/** How many rows there are under each trace id, once every one has a row, or after `withinMs`: rows come a little later. */
export async function countRowsSoon(
  { query, until, credentials }: World,
  traceIds: readonly string[],
  withinMs = 8000,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  await until(async () => {
    const rows = await query<{ trace_id: string; count: number }>(
      `select trace_id, count(*)::int as count from audit_log where tenant_id = $2 and trace_id = any($1)
      group by trace_id`,
      [traceIds, credentials.tenant_id],
    );
    for (const { trace_id, count } of rows) counts.set(trace_id, count);
    return rows.length === traceIds.length;
  }, withinMs);
  return counts;
}

/** No disclosure of the common load may have more than one row: an invocation discloses once. */
export async function failForRepeated({ query, report, credentials }: World): Promise<void> {
  const rows = await query<{ trace_id: string }>(
    `select trace_id from audit_log where tenant_id = $1 and trace_id like 'invocation-%'
    group by trace_id having count(*) > 1`,
    [credentials.tenant_id],
  );
  report.none(
    'disclosures of the load with several rows',
    rows,
    ({ trace_id }) => `${rows.length} disclosures have several rows, such as ${trace_id}`,
  );
}

/** Nobody can add to the audit log until the stack ends, and who tries waits. */
export async function lockAuditLog({ stores }: Site, stack: AsyncDisposableStack): Promise<void> {
  const client = stack.use(await connectPostgres(stores.databaseUrl));
  await client.query('begin; lock table audit_log in access exclusive mode');
}

/** Resolves to whether a statement of this kind comes to wait for a lock. */
export const isWaitedFor = ({ query, until }: World, statement: string, withinMs: number) =>
  until(async () => {
    const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock' and query ilike $1`;
    return (await query(waiting, [`%${statement}%`])).length > 0;
  }, withinMs);
