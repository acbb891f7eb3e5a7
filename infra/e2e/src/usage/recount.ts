import type pg from 'pg';

/** What the usage report says of tokens, and what a recount must come to. */
export interface Usage {
  metrics_by_type: Record<string, { count: number; last_created_at?: string }>;
  monthly_active_tokens: number;
}

const alwaysReported = ['token', 'card', 'bank'];

/**
 * From now on every token that is deleted leaves a row behind, whoever deletes it: last_created_at and the active tokens
 * of the month are also about tokens that are gone.
 */
export async function keepDeletedTokens(client: pg.Client): Promise<void> {
  await client.query(`
    create table gone_tokens as select tenant_id, id, type, active_month, created_at from tokens where false;
    create function keep_gone_token() returns trigger language plpgsql as $$
      begin
        insert into gone_tokens values (old.tenant_id, old.id, old.type, old.active_month, old.created_at);
        return old;
      end $$;
    create trigger keep_gone_token after delete on tokens for each row execute function keep_gone_token();
  `);
}

/** Makes all tokens of the database such as were last active in the month before. Call it before any is used. */
export async function setMonthBack(client: pg.Client): Promise<void> {
  await client.query(`update tokens set active_month = active_month - interval '1 month'`);
  await client.query(`delete from counters where starts_with(counter, 'active_tokens:')`);
}

/** The report as it must be, counted from the rows; counters are not looked at. */
export async function recount(client: pg.Client, tenantId: string): Promise<Usage> {
  const { rows } = await client.query<{ type: string; count: number; last_created_at: Date }>(
    `select type, count(*) filter (where alive)::integer as count, max(created_at) as last_created_at
     from (
       select type, created_at, true as alive from tokens where tenant_id = $1
       union all
       select type, created_at, false from gone_tokens where tenant_id = $1
     ) as each group by type`,
    [tenantId],
  );
  const reported = rows.filter(({ type, count }) => count > 0 || alwaysReported.includes(type));
  return {
    metrics_by_type: Object.fromEntries([
      ...alwaysReported.map((type) => [type, { count: 0 }]),
      ...reported.map(({ type, count, last_created_at }) => [
        type,
        { count, last_created_at: last_created_at.toISOString() },
      ]),
    ]),
    monthly_active_tokens: (await activeIds(client, tenantId)).size,
  };
}

/** Ids of the tokens that are noted as active in this month, those that are gone included. */
export async function activeIds(client: pg.Client, tenantId: string): Promise<Set<string>> {
  const { rows } = await client.query<{ id: string }>(
    `select id from (
       select id, active_month from tokens where tenant_id = $1
       union all
       select id, active_month from gone_tokens where tenant_id = $1
     ) as each where active_month = date_trunc('month', now() at time zone 'utc')`,
    [tenantId],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Ids of the rows that there are, and of those that were deleted. */
export async function idsOf(client: pg.Client, table: 'tokens' | 'gone_tokens'): Promise<Set<string>> {
  const { rows } = await client.query<{ id: string }>(`select id from ${table}`);
  return new Set(rows.map(({ id }) => id));
}
