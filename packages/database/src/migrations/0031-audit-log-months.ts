import { type Kysely, sql } from 'kysely';

/**
 * The audit log becomes a table of months, so that old ones can be dropped. A trigger notes, also for the previous
 * version, the tokens that a row touched (no GIN index over `detail`, because millions of rows can touch one token and
 * are read newest first, a page at a time) and the rows that the ledger has to sequence. While existing rows become the
 * partition before next month, no audit row is written: two seconds for a million, or less if `create unique index
 * concurrently audit_log_before_newest on audit_log (tenant_id, at, id)` ran before.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of [...columns, ...months, ...tokens, ...arrivals, ...ledgers, noting]) {
    await sql.raw(statement).execute(db);
  }
  await sql.raw(partitions).execute(db);
}

const columns = [
  `alter table audit_log add column leaf_version smallint`,
  `alter table audit_log alter column leaf_version set default 1`,
  `create unique index if not exists audit_log_before_newest on audit_log (tenant_id, at, id)`,
  `drop index audit_log_newest`,
  `drop index audit_log_id`,
];

const months = [
  `alter table audit_log rename to audit_log_before`,
  `create table audit_log (like audit_log_before including defaults) partition by range (at)`,
  `create unique index audit_log_newest on audit_log (tenant_id, at, id)`,
  `create index audit_log_entity on audit_log (tenant_id, entity_id, at)`,
  `create index audit_log_actor on audit_log (tenant_id, actor_id, at)`,
  `create index audit_log_verb on audit_log (tenant_id, entity_type, operation, at)`,
  `create index audit_log_trace on audit_log (tenant_id, trace_id)`,
  `create table audit_log_default partition of audit_log default`,
];

const tokens = [
  `create table audit_log_tokens (
    tenant_id uuid not null,
    token_id text not null,
    at timestamptz(3) not null,
    log_id uuid not null
  ) partition by range (at)`,
  `create index audit_log_tokens_newest on audit_log_tokens (tenant_id, token_id, at)`,
  `create table audit_log_tokens_before (like audit_log_tokens including all)`,
  `create table audit_log_tokens_default partition of audit_log_tokens default`,
  `insert into audit_log_tokens_before
   select tenant_id, token_id, at, id from audit_log_before cross join lateral (
     select entity_id as token_id where entity_type = 'token'
     union select jsonb_array_elements_text(detail -> 'token_ids')
   ) as touched`,
];

const arrivals = [
  `create table audit_log_arrivals (
    tenant_id uuid not null,
    arrival bigint generated always as identity,
    ids uuid[] not null,
    times timestamptz(3)[] not null,
    primary key (tenant_id, arrival)
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`,
];

const ledgers = [
  `create table ledgers (
    tenant_id uuid primary key,
    size bigint not null default 0,
    frontier bytea not null default '',
    dropped bigint not null default 0,
    kept_at timestamptz(3),
    unsequenced_before bigint not null default 0,
    before_at timestamptz(3),
    before_id uuid,
    checkpoint text,
    witnessed_size bigint not null default 0,
    closed_at timestamptz(3)
  ) with (fillfactor = 50)`,
  `create index ledgers_before on ledgers (tenant_id) where unsequenced_before > 0`,
  `create index ledgers_closed on ledgers (closed_at) where closed_at is not null`,
  `insert into ledgers (tenant_id, unsequenced_before) select tenant_id, count(*) from audit_log_before group by tenant_id`,
  `create table ledger_leaves (
    tenant_id uuid not null,
    leaf_index bigint not null,
    log_id uuid not null,
    at timestamptz(3) not null,
    kept_at timestamptz(3) not null,
    leaf_version smallint not null,
    leaf_hash bytea not null,
    primary key (tenant_id, leaf_index)
  )`,
  `create unique index ledger_leaves_log on ledger_leaves (tenant_id, log_id)`,
  `create table ledger_nodes (
    tenant_id uuid not null,
    level smallint not null,
    node_index bigint not null,
    hash bytea not null,
    primary key (tenant_id, level, node_index)
  )`,
];

/** With the rights of the migrating role, so that a role that only adds rows needs no rights to the other tables. */
const noting = `
create function note_audit_rows() returns trigger language plpgsql security definer set search_path from current as $$
begin
  insert into audit_log_arrivals (tenant_id, ids, times)
  select tenant_id, array_agg(id order by at, id), array_agg(at order by at, id) from inserted group by tenant_id;
  insert into audit_log_tokens (tenant_id, token_id, at, log_id)
  select tenant_id, entity_id, at, id from inserted where entity_type = 'token' and not coalesce(detail ? 'token_ids', false)
  union all
  select tenant_id, jsonb_array_elements_text(detail -> 'token_ids'), at, id from inserted
  union all
  select tenant_id, jsonb_array_elements(detail -> 'refused') ->> 'token_id', at, id from inserted;
  return null;
end $$;
create trigger note_audit_rows after insert on audit_log
referencing new table as inserted for each statement execute function note_audit_rows();`;

/** With the rights of the migrating role, because only a table's owner may add and drop its partitions. */
const partitions = `
create function add_audit_log_month(month date) returns boolean language plpgsql security definer
set search_path from current set lock_timeout = '500ms' as $$
declare
  parent text;
  part text;
  month_start timestamptz := month::timestamp at time zone 'UTC';
  month_end timestamptz := (month + interval '1 month') at time zone 'UTC';
begin
  perform pg_advisory_xact_lock(hashtext('audit_log_months'));
  if to_regclass('audit_log_' || to_char(month, 'YYYY_MM')) is not null then return false; end if;
  foreach parent in array array['audit_log', 'audit_log_tokens'] loop
    part := parent || '_' || to_char(month, 'YYYY_MM');
    execute format('create table %I (like %I including defaults)', part, parent);
    execute format('with moved as (delete from %I where at >= %L and at < %L returning *) insert into %I select * from moved',
      parent || '_default', month_start, month_end, part);
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, part, month_start, month_end);
  end loop;
  return true;
exception when invalid_object_definition then
  return false; -- the partition of what was there before the months holds this one
end $$;

create function drop_audit_log_month(month date) returns boolean language plpgsql security definer
set search_path from current set lock_timeout = '500ms' as $$
declare
  part text := 'audit_log_' || to_char(month, 'YYYY_MM');
  tokens_part text := 'audit_log_tokens_' || to_char(month, 'YYYY_MM');
  kept uuid[];
begin
  perform pg_advisory_xact_lock(hashtext('audit_log_months'));
  if to_regclass(part) is null then return false; end if;
  execute format('lock table %I, %I in share mode', part, tokens_part);
  execute format('select array_agg(row.id) from %I as row
    left join ledgers on ledgers.tenant_id = row.tenant_id
    left join ledger_leaves as leaf on leaf.tenant_id = row.tenant_id and leaf.log_id = row.id
    where leaf.leaf_index is null or leaf.leaf_index >= ledgers.dropped', part) into kept;
  execute format('alter table audit_log detach partition %I', part);
  execute format('alter table audit_log_tokens detach partition %I', tokens_part);
  execute format('insert into audit_log_default select * from %I where id = any($1)', part) using kept;
  execute format('insert into audit_log_tokens_default select * from %I where log_id = any($1)', tokens_part) using kept;
  execute format('drop table %I, %I', part, tokens_part);
  return true;
end $$;
revoke execute on function add_audit_log_month(date), drop_audit_log_month(date) from public;

do $$
declare
  until timestamptz := (date_trunc('month', now() at time zone 'UTC') + interval '1 month') at time zone 'UTC';
  latest timestamptz := (select max(at) from audit_log_before);
begin
  if latest >= until then -- a clock was ahead
    until := (date_trunc('month', latest at time zone 'UTC') + interval '1 month') at time zone 'UTC';
  end if;
  execute format('alter table audit_log attach partition audit_log_before for values from (minvalue) to (%L)', until);
  execute format('alter table audit_log_tokens attach partition audit_log_tokens_before for values from (minvalue) to (%L)', until);
  perform add_audit_log_month((until at time zone 'UTC' + each * interval '1 month')::date) from generate_series(0, 1) as each;
end $$;`;
