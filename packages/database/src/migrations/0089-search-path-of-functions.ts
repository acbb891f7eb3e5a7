import { type Kysely, sql } from 'kysely';

/**
 * Functions that run with the rights of the migrating role look for temporary tables last. Otherwise a role that may create those
 * could put its own in place of a table that such a function reads.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`do $$
    declare definer regprocedure;
    begin
      for definer in
        select oid from pg_proc where prosecdef and pronamespace = current_schema()::regnamespace
      loop
        execute format('alter function %s set search_path = %I, pg_temp', definer, current_schema());
      end loop;
    end $$`.execute(db);
}
