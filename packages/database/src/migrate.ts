import { type MigrationResult, Migrator } from 'kysely/migration';
import type { Database } from './database.ts';
import * as firstTables from './migrations/0001-first-tables.ts';
import * as proxyNames from './migrations/0002-proxy-names.ts';
import * as idempotencyRecords from './migrations/0003-idempotency-records.ts';
import * as cacheCoherence from './migrations/0004-cache-coherence.ts';
import * as tokenSearch from './migrations/0010-token-search.ts';

/** Listed by hand, applied in this order, forward only. Each must be safe while the previous version still serves. */
const migrations = {
  '0001-first-tables': firstTables,
  '0002-proxy-names': proxyNames,
  '0003-idempotency-records': idempotencyRecords,
  '0004-cache-coherence': cacheCoherence,
  '0010-token-search': tokenSearch,
};

/**
 * Brings the database to the newest version. Several processes may run it at once: one works, the others wait.
 * @returns the names of the migrations that it applied.
 */
export async function migrate(db: Database): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error) throw error;
  return results.filter((result: MigrationResult) => result.status === 'Success').map((result) => result.migrationName);
}
