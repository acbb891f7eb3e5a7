import type pg from 'pg';

const alwaysReported = ['token', 'card', 'bank'];

/**
 * From now on every token that is deleted leaves a row behind, whoever deletes it: last_created_at and the active tokens
 * of the month are also about tokens that are gone.
 */
export async function keepDeletedTokens(client: pg.Client): Promise<void> {
  const columns = 'tenant_id, id, type, active_month, created_at';
  await client.query(`
    create table gone_tokens as select ${columns} from tokens where false;
    create function keep_gone_token() returns trigger language plpgsql as $$
      begin
        insert into gone_tokens values (old.tenant_id, old.id, old.type, old.active_month, old.created_at);
        return old;
      end $$;
    create trigger keep_gone_token after delete on tokens for each row execute function keep_gone_token();
    create view every_token as
      select *, active_month = date_trunc('month', now() at time zone 'utc') as is_active
      from (select ${columns}, true as is_there from tokens union all select ${columns}, false from gone_tokens) as each;
  `);
}

/** Makes all tokens of the database such as were last active in the month before. Call it before any is used. */
export async function setMonthBack(client: pg.Client): Promise<void> {
  await client.query(`update tokens set active_month = active_month - interval '1 month'`);
  await client.query(`delete from counters where starts_with(counter, 'active_tokens:')`);
}

export type State = Awaited<ReturnType<typeof readState>>;

/** What the rows tell, by the ids of tokens. */
export async function readState(client: pg.Client) {
  const { rows } = await client.query<{ id: string; is_there: boolean; is_active: boolean }>(
    'select * from every_token',
  );
  const idsOf = (tokens: typeof rows) => new Set(tokens.map(({ id }) => id));
  return {
    rows: idsOf(rows.filter(({ is_there }) => is_there)),
    /** Deleted. */
    gone: idsOf(rows.filter(({ is_there }) => !is_there)),
    /** Noted as active in this month, those that are gone included. */
    active: idsOf(rows.filter(({ is_active }) => is_active)),
  };
}

/** The report as it must be, counted from the rows; counters are not looked at. */
export async function recount(client: pg.Client) {
  const { rows } = await client.query<{ type: string; count: number; last_created_at: Date }>(
    `select type, count(*) filter (where is_there)::integer as count, max(created_at) as last_created_at
     from every_token group by type`,
  );
  const reported = rows.filter(({ type, count }) => count > 0 || alwaysReported.includes(type));
  const metrics = reported.map(({ type, count, last_created_at }) => {
    return [type, { count, last_created_at: last_created_at.toISOString() }] as const;
  });
  return {
    metrics_by_type: Object.fromEntries([...alwaysReported.map((type) => [type, { count: 0 }] as const), ...metrics]),
    monthly_active_tokens: (await readState(client)).active.size,
  };
}
