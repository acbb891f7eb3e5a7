import { type Kysely, sql } from 'kysely';

/**
 * A page by its number walks an index to where it begins. With the expiry in the index, the rows on the way are not read.
 * Writes to tokens wait while their index is built, some seconds for a million, unless `create index concurrently
 * tokens_unexpired on tokens (tenant_id, created_at desc, id desc) include (expires_at)` ran before. One that broke off
 * leaves an index that serves nothing, and is built anew.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = ['tokens', 'applications'].flatMap((table) => [
  `do $$ begin
    if exists (select from pg_index where indexrelid = to_regclass('${table}_unexpired') and not indisvalid) then
      drop index ${table}_unexpired;
    end if;
  end $$`,
  `create index if not exists ${table}_unexpired on ${table} (tenant_id, created_at desc, id desc) include (expires_at)`,
  `drop index ${table}_newest`,
  `alter index ${table}_unexpired rename to ${table}_newest`,
]);
