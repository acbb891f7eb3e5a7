import { isDeepStrictEqual } from 'node:util';
import { type MigrationName, migrationNames, type Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { sql } from 'kysely';

/** A member that restricts what may be done, as it is stored and as it is to be. Null or absent: it restricts nothing. */
export interface Restriction {
  /** As in the API. */
  member: string;
  stored: unknown;
  wanted: unknown;
  /** The migration that added the member. */
  since: MigrationName;
}

/**
 * Call in the transaction that stores the members. During an upgrade, processes of the version before still serve, and
 * would ignore a member that they do not know: what it forbids would be allowed. Each writes with its lease which
 * migrations it knows, so a member is set or changed only while every process knows it. Taking one away is always
 * allowed, and a stored value stays. Invariant: when the member is set, every process that has a lease knows it. A process
 * of the version before ignores it if it is started later, or if it hung until its lease expired and then goes on (see
 * upgrade.md).
 * @throws {ServiceError} 503 naming the services and how many leases are in the way.
 * @throws {Error} for a `since` that this build does not have: later than all that its own processes know, it would never
 *   let the member be set; earlier, it would let a process pass that does not know the member.
 */
export async function requireEveryLeaseKnows(tx: Queryable, restrictions: readonly Restriction[]): Promise<void> {
  for (const { member, since } of restrictions) {
    if (!migrationNames.includes(since)) throw new Error(`${member} restricts since ${since}, which is no migration`);
  }
  const changed = restrictions.filter(
    ({ stored, wanted }) => (wanted ?? undefined) !== undefined && !isDeepStrictEqual(stored, wanted),
  );
  const newest = changed
    .map(({ since }) => since)
    .sort()
    .at(-1);
  if (newest === undefined) return;
  const unaware = await countUnaware(tx, newest);
  if (unaware.length === 0) return;
  const members = changed.map(({ member }) => member).join(', ');
  const services = unaware.map(({ service, leases }) => `${leases} of ${service}`).join(', ');
  const detail = `${members} cannot be set yet, because older processes that would ignore it are still running (${services})`;
  throw new ServiceError('unavailable', detail, { retryAfterSeconds: 10 });
}

interface Unaware {
  service: string;
  leases: number;
}

/** The leases of processes that do not know this migration, by service. */
async function countUnaware(db: Queryable, migration: string): Promise<Unaware[]> {
  const { rows } = await sql<Unaware>`
    select service, count(*)::integer as leases from cache_leases
    where expires_at > clock_timestamp() and coalesce(knows, '') collate "C" < ${migration}
    group by service order by service`.execute(db);
  return rows;
}
