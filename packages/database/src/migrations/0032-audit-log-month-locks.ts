import { type Kysely, sql } from 'kysely';

/** Locks the parents while a month is added, because rows on their way to the default partition would fail. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw(addMonth).execute(db);
}

const addMonth = `
create or replace function add_audit_log_month(month date) returns boolean language plpgsql security definer
set search_path from current set lock_timeout = '500ms' as $$
declare
  parent text;
  part text;
  month_start timestamptz := month::timestamp at time zone 'UTC';
  month_end timestamptz := (month + interval '1 month') at time zone 'UTC';
begin
  perform pg_advisory_xact_lock(hashtext('audit_log_months'));
  if to_regclass('audit_log_' || to_char(month, 'YYYY_MM')) is not null then return false; end if;
  lock table only audit_log, only audit_log_tokens in share row exclusive mode;
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
end $$;`;
