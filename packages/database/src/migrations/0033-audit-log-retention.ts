import { type Kysely, sql } from 'kysely';

/**
 * A month is dropped once every ledger has given up its rows. Rows that ledgers keep, because they arrived after the
 * month, first move to the default partition; `ledger_leaves_astray` finds them, and those of clocks that were ahead.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of [astray, closed, purged, tokensOf, 'drop function drop_audit_log_month(date)', dropOldest]) {
    await sql.raw(statement).execute(db);
  }
}

const astray = `
create index ledger_leaves_astray on ledger_leaves (tenant_id, leaf_index)
where date_trunc('month', at at time zone 'UTC') <> date_trunc('month', kept_at at time zone 'UTC')`;

const closed = `create index ledgers_closed_rows on ledgers (closed_at) where closed_at is not null and size > dropped`;

const purged = `
update ledgers set closed_at = now() where closed_at is null and not exists (select from tenants where id = tenant_id)`;

const tokensOf = `
create function audit_log_token_ids(entity_type text, entity_id text, detail jsonb) returns setof text
language sql immutable as $$
  select entity_id where entity_type = 'token'
  union select jsonb_array_elements_text(detail -> 'token_ids')
  union select jsonb_array_elements(detail -> 'refused') ->> 'token_id'
$$`;

/** Locks the parents first, so that rows wait instead of failing or making this fail. */
const dropOldest = `
create function drop_oldest_audit_log_month(keep_from date) returns text language plpgsql security definer
set search_path from current set lock_timeout = '500ms' as $$
declare
  keep_at timestamptz := keep_from::timestamp at time zone 'UTC';
  part text;
  tokens_part text;
  ends_at timestamptz;
begin
  perform pg_advisory_xact_lock(hashtext('audit_log_months'));
  select relname, upper_end into part, ends_at from (
    select relname, substring(pg_get_expr(relpartbound, class.oid) from 'TO [(]''(.+)''[)]')::timestamptz as upper_end
    from pg_inherits join pg_class as class on class.oid = inhrelid where inhparent = 'audit_log'::regclass
  ) as parts where upper_end <= keep_at order by upper_end limit 1;
  if part is null then return null; end if;
  tokens_part := replace(part, 'audit_log_', 'audit_log_tokens_');
  if exists (select from ledgers where unsequenced_before > 0) or exists (
    select from ledgers join ledger_leaves as leaf on leaf.tenant_id = ledgers.tenant_id and leaf.leaf_index = ledgers.dropped
    where leaf.kept_at < ends_at
  ) then return null; end if; -- a ledger has not given its rows up yet
  lock table only audit_log, only audit_log_tokens in access exclusive mode;
  create temporary table kept_rows on commit drop as
    select leaf.tenant_id, leaf.at, leaf.log_id as id
    from ledgers join ledger_leaves as leaf on leaf.tenant_id = ledgers.tenant_id
      and leaf.leaf_index >= ledgers.dropped
      and date_trunc('month', leaf.at at time zone 'UTC') <> date_trunc('month', leaf.kept_at at time zone 'UTC')
    where leaf.at < ends_at
    union
    select tenant_id, each.at, each.id from audit_log_arrivals, unnest(ids, times) as each(id, at) where each.at < ends_at;
  execute format('alter table audit_log detach partition %I', part);
  execute format('alter table audit_log_tokens detach partition %I', tokens_part);
  execute format('insert into audit_log_tokens_default
    select token.* from kept_rows join %I as log using (tenant_id, at, id)
    cross join lateral audit_log_token_ids(log.entity_type, log.entity_id, log.detail) as touched(token_id)
    join %I as token on token.tenant_id = log.tenant_id and token.token_id = touched.token_id
      and token.at = log.at and token.log_id = log.id', part, tokens_part);
  execute format('insert into audit_log_default select log.* from kept_rows join %I as log using (tenant_id, at, id)', part);
  execute format('drop table %I, %I', part, tokens_part);
  drop table kept_rows;
  return part;
end $$;
revoke execute on function drop_oldest_audit_log_month(date) from public;`;
