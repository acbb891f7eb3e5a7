import type { Database } from '@sluice/database';
import { sql } from 'kysely';

const batchSize = 1000;

/** @returns how many, at most a batch; 0 when none is left. Without `order by` Postgres would scan the whole table. */
export async function purgeTokens(db: Database, tenantId: string): Promise<number> {
  const result = await sql`
    delete from tokens where tenant_id = ${tenantId} and id = any(array(
      select id from tokens where tenant_id = ${tenantId} order by id limit ${sql.lit(batchSize)}))
  `.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}
