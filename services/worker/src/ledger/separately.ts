import type { Database } from '@sluice/database';
import { sql } from 'kysely';

/** Work on one ledger after another, of which one that fails holds up no other. */
export interface Separate {
  /** What the work gives; undefined where it failed, now or earlier. @throws {Error} where Postgres is away. */
  attempt<T>(tenantId: string, work: () => Promise<T>): Promise<T | undefined>;
  /** @throws {Error} that names the first ledger which failed, and how many others did. */
  throwFailures(): void;
}

/** Begins with no failures: each round has its own. */
export function separately(db: Database): Separate {
  const failures = new Map<string, unknown>();

  return {
    async attempt(tenantId, work) {
      if (failures.has(tenantId)) return undefined;
      try {
        return await work();
      } catch (error) {
        failures.set(tenantId, error);
        await sql`select 1`.execute(db); // if it is Postgres that failed, all others would fail too
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
