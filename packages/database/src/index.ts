export { checkDatabase } from './check-database.ts';
export { citusLayout } from './citus-layout.ts';
export {
  type ConnectOptions,
  connectDatabase,
  connectOwn,
  type DatabaseOptions,
  databaseSettings,
  type OnConnectionError,
  onConnection,
  ping,
} from './connect.ts';
export { connectAhead } from './connect-ahead.ts';
export { addToCounter, counterSlot, isPastEnd, readCounter } from './count.ts';
export type { Database, Queryable, Tables } from './database.ts';
export { type MigrationName, migrate, migrationNames, newestMigration } from './migrate.ts';
export { nextVersion } from './next-version.ts';
export { parseDate } from './parse-date.ts';
export { type PoolState, poolState } from './pools.ts';
export { prepared, preparedSql } from './prepared.ts';
export { changeRows, inRowTurns, type LockedRows } from './row-turns.ts';
export { rowsAsArrays } from './rows-as-arrays.ts';
export type { AccessRuleRow, ApplicationsTable } from './tables/applications.ts';
export type { MailboxEntry } from './tables/cache-leases.ts';
export type { DataKeysTable } from './tables/data-keys.ts';
export type { DueTokensTable } from './tables/due-tokens.ts';
export type { NamedKind } from './tables/former-names.ts';
export type { CountedKind } from './tables/invocation-counts.ts';
export type { ProxiesTable } from './tables/proxies.ts';
export {
  listProxyMembers,
  type ProxyColumns,
  type ProxyMemberName,
  type ProxyMembers,
  pathNameForm,
  pathNamePattern,
  proxyColumns,
  proxyMembers,
} from './tables/proxy-members.ts';
export { proxyVersionField } from './tables/proxy-versions.ts';
export type { DeclaredMember, ReactorFormulasTable } from './tables/reactor-formulas.ts';
export {
  type ReactorRunState,
  type ReactorRunsTable,
  runArguments,
  runBytesCounter,
  runConsole,
  runResult,
} from './tables/reactor-runs.ts';
export { type ReactorsTable, reactorConfiguration } from './tables/reactors.ts';
export type { SessionsTable } from './tables/sessions.ts';
export type { TenantsTable } from './tables/tenants.ts';
export type { TokensTable } from './tables/tokens.ts';
export { asTenant } from './tenant-work.ts';
export { textBytesOf } from './text-bytes.ts';
export { throughIndexes } from './through-indexes.ts';
