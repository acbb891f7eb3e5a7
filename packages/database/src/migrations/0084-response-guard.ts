import { type Kysely, sql } from 'kysely';

/**
 * Null is `off`. The previous version does not write it, and a Proxy that it changes keeps it. It would pass answers on
 * unguarded, so the management API sets a guard only while no process of that version has a lease.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`
    alter table proxies
      add column response_guard text check (response_guard in ('off', 'tokenize', 'redact', 'block'))
  `.execute(db);
}
