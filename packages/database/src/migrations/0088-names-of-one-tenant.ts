import { type Kysely, sql } from 'kysely';

/**
 * Names are compared within their Tenant. These indexes had the names of all Tenants, so that one Tenant could slow the lists of
 * others. The previous version finds names without them.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`drop index proxies_name, reactors_name, reactor_formulas_name`.execute(db);
}
