import type { Database } from '@sluice/database';
import { sql } from 'kysely';

/** A failing ledger does not stop the others. */
export interface Separate {
  /** Undefined if the work fails or has failed before. @throws {Error} if Postgres is unavailable. */
  attempt<T>(tenantId: string, work: () => Promise<T>): Promise<T | undefined>;
  /** @throws {Error} that names the first failed ledger and the number of others. */
  throwFailures(): void;
}

export function separately(db: Database): Separate {
  const failures = new Map<string, unknown>();

  return {
    async attempt(tenantId, work) {
      if (failures.has(tenantId)) return undefined;
      try {
        return await work();
      } catch (error) {
        failures.set(tenantId, error);
        await sql`select 1`.execute(db); // throws if Postgres is unavailable, since all others would fail too
        return undefined;
      }
    },
    throwFailures() {
      const [first] = failures;
      if (!first) return;
      const [tenantId, cause] = first;
      const others = failures.size > 1 ? `, nor could those of ${failures.size - 1} others` : '';
      throw new Error(`The ledger of Tenant ${tenantId} could not be worked on${others}`, { cause });
    },
  };
}
