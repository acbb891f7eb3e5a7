import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Database } from './database.ts';
import * as firstTables from './migrations/0001-first-tables.ts';
import * as proxyNames from './migrations/0002-proxy-names.ts';
import * as idempotencyRecords from './migrations/0003-idempotency-records.ts';
import * as cacheCoherence from './migrations/0004-cache-coherence.ts';
import * as tokenSearch from './migrations/0010-token-search.ts';
import * as auditLogIds from './migrations/0011-audit-log-ids.ts';
import * as applicationKeys from './migrations/0020-application-keys.ts';
import * as sessions from './migrations/0021-sessions.ts';
import * as sessionBounds from './migrations/0022-session-bounds.ts';
import * as auditLogMessages from './migrations/0030-audit-log-messages.ts';
import * as auditLogMonths from './migrations/0031-audit-log-months.ts';
import * as auditLogMonthLocks from './migrations/0032-audit-log-month-locks.ts';
import * as auditLogRetention from './migrations/0033-audit-log-retention.ts';
import * as ledgerRepairs from './migrations/0034-ledger-repairs.ts';
import * as ledgerArrivalTimes from './migrations/0035-ledger-arrival-times.ts';
import * as dueTokens from './migrations/0040-due-tokens.ts';
import * as blindBytes from './migrations/0050-blind-bytes.ts';
import * as idsOfPages from './migrations/0051-ids-of-pages.ts';
import * as usersAndMembers from './migrations/0060-users-and-members.ts';
import * as pendingSignIns from './migrations/0061-pending-sign-ins.ts';
import * as reactors from './migrations/0064-reactors.ts';
import * as reactorRuns from './migrations/0065-reactor-runs.ts';
import * as allowedOrigins from './migrations/0068-allowed-origins.ts';
import * as howSessionsWereMade from './migrations/0069-how-sessions-were-made.ts';
import * as proxyVersions from './migrations/0070-proxy-versions.ts';
import * as usesOfApplications from './migrations/0073-uses-of-applications.ts';
import * as invitedMembers from './migrations/0076-invited-members.ts';
import * as namesAndUsesOfKeys from './migrations/0077-names-and-uses-of-keys.ts';
import * as whatLeasesKnow from './migrations/0080-what-leases-know.ts';
import * as placesAndRequestHeaders from './migrations/0081-places-and-request-headers.ts';
import * as routes from './migrations/0082-routes.ts';
import * as usesOfTokens from './migrations/0083-uses-of-tokens.ts';
import * as responseGuard from './migrations/0084-response-guard.ts';
import * as namesInOrder from './migrations/0085-names-in-order.ts';
import * as formerNames from './migrations/0086-former-names.ts';
import * as invocationCounts from './migrations/0087-invocation-counts.ts';
import * as namesOfOneTenant from './migrations/0088-names-of-one-tenant.ts';
import * as searchPathOfFunctions from './migrations/0089-search-path-of-functions.ts';

/** There is no way back. Each must be safe while the previous version serves, and may run after later ones. */
const migrations = {
  '0001-first-tables': firstTables,
  '0002-proxy-names': proxyNames,
  '0003-idempotency-records': idempotencyRecords,
  '0004-cache-coherence': cacheCoherence,
  '0010-token-search': tokenSearch,
  '0011-audit-log-ids': auditLogIds,
  '0020-application-keys': applicationKeys,
  '0021-sessions': sessions,
  '0022-session-bounds': sessionBounds,
  '0030-audit-log-messages': auditLogMessages,
  '0031-audit-log-months': auditLogMonths,
  '0032-audit-log-month-locks': auditLogMonthLocks,
  '0033-audit-log-retention': auditLogRetention,
  '0034-ledger-repairs': ledgerRepairs,
  '0035-ledger-arrival-times': ledgerArrivalTimes,
  '0040-due-tokens': dueTokens,
  '0050-blind-bytes': blindBytes,
  '0051-ids-of-pages': idsOfPages,
  '0060-users-and-members': usersAndMembers,
  '0061-pending-sign-ins': pendingSignIns,
  '0064-reactors': reactors,
  '0065-reactor-runs': reactorRuns,
  '0068-allowed-origins': allowedOrigins,
  '0069-how-sessions-were-made': howSessionsWereMade,
  '0070-proxy-versions': proxyVersions,
  '0073-uses-of-applications': usesOfApplications,
  '0076-invited-members': invitedMembers,
  '0077-names-and-uses-of-keys': namesAndUsesOfKeys,
  '0080-what-leases-know': whatLeasesKnow,
  '0081-places-and-request-headers': placesAndRequestHeaders,
  '0082-routes': routes,
  '0083-uses-of-tokens': usesOfTokens,
  '0084-response-guard': responseGuard,
  '0085-names-in-order': namesInOrder,
  '0086-former-names': formerNames,
  '0087-invocation-counts': invocationCounts,
  '0088-names-of-one-tenant': namesOfOneTenant,
  '0089-search-path-of-functions': searchPathOfFunctions,
};

export type MigrationName = keyof typeof migrations;

export const migrationNames: readonly string[] = Object.keys(migrations);

/** The newest that this process knows. */
export const newestMigration = migrationNames.at(-1) ?? '';

export interface MigrateOptions {
  onWait?: () => void;
  upTo?: string;
}

/** Other statements on the table queue behind a waiting migration, so it soon gives up and tries again. */
const lockTimeoutMs = 500;
const pauseMs = 2000;
const patienceMs = 300_000;

const lockNotAvailable = '55P03';

/** Concurrent processes wait for the one that migrates. @returns the names of the applied migrations. */
export async function migrate(db: Database, { onWait, upTo }: MigrateOptions = {}): Promise<string[]> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...withLockTimeout, ...(await laterMigrations(db)) }) },
    allowUnorderedMigrations: true,
  });
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const { error, results = [] } = await (upTo ? migrator.migrateTo(upTo) : migrator.migrateToLatest());
    if (!error) return results.filter(({ status }) => status === 'Success').map(({ migrationName }) => migrationName);
    if (!isLockTimeout(error)) throw error;
    if (performance.now() > deadline) {
      throw new Error(`another transaction holds a table for over ${patienceMs / 60_000} minutes`, { cause: error });
    }
    onWait?.();
    await wait(pauseMs);
  }
}

/** All migrations run in one transaction, to which the timeout applies. */
const withLockTimeout: Record<string, Migration> = Object.fromEntries(
  Object.entries<Migration>(migrations).map(([name, { up }]) => [
    name,
    {
      async up(tx) {
        await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(tx);
        await up(tx);
      },
    },
  ]),
);

/**
 * Kysely refuses to run with migrations that it does not know; then the previous version could not be deployed again.
 */
async function laterMigrations(db: Database): Promise<Record<string, Migration>> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const later = rows.filter(({ name }) => !migrationNames.includes(name));
  return Object.fromEntries(later.map(({ name }) => [name, { up: async () => undefined }]));
}

const isLockTimeout = (error: unknown) => error instanceof Error && 'code' in error && error.code === lockNotAvailable;
