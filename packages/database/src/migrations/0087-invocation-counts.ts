import { type Kysely, sql } from 'kysely';

/**
 * The time at which this migration is applied says from when on invocations are counted. The previous version counts none, and
 * purges Tenants without knowing the table, so a trigger deletes their rows; a foreign key could not lead out of a shard.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table invocation_counts (
    tenant_id uuid not null,
    step integer not null check (step in (60, 900, 21600)),
    start timestamptz(3) not null,
    kind text not null check (kind in ('tenant', 'proxy', 'application', 'reactor', 'rest')),
    id uuid not null,
    requests bigint not null,
    destination_errors bigint not null,
    errors jsonb not null,
    durations jsonb not null,
    primary key (tenant_id, step, start, kind, id)
  )`,
  // Immutable, because Citus allows nothing else in the update of a conflict
  `create function add_counts(counts jsonb, added jsonb) returns jsonb language sql immutable parallel safe
    return case when added = '{}' then counts when counts = '{}' then added else (
      select jsonb_object_agg(key, value) from (
        select key, sum(value::bigint) as value from (
          select key, value from jsonb_each_text(counts) union all select key, value from jsonb_each_text(added)
        ) as entries group by key
      ) as sums
    ) end`,
  `create function delete_invocation_counts() returns trigger language plpgsql as $$
    begin
      delete from invocation_counts where tenant_id = old.id;
      return null;
    end $$`,
  `create trigger tenants_delete_invocation_counts after delete on tenants
    for each row execute function delete_invocation_counts()`,
];
