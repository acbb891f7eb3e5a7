import type { Kysely, Transaction } from 'kysely';
import type { ApplicationKeysTable } from './tables/application-keys.ts';
import type { ApplicationsTable } from './tables/applications.ts';
import type { AuditLogTable } from './tables/audit-log.ts';
import type { CacheLeasesTable } from './tables/cache-leases.ts';
import type { ChangesTable } from './tables/changes.ts';
import type { CountersTable } from './tables/counters.ts';
import type { DataKeysTable } from './tables/data-keys.ts';
import type { DueTokensTable } from './tables/due-tokens.ts';
import type { FormerNamesTable } from './tables/former-names.ts';
import type { IdempotencyRecordsTable } from './tables/idempotency-records.ts';
import type { InvocationCountsTable } from './tables/invocation-counts.ts';
import type { KeyUsesTable } from './tables/key-uses.ts';
import type {
  AuditLogArrivalsTable,
  AuditLogTokensTable,
  LedgerLeavesTable,
  LedgerNodesTable,
  LedgersTable,
} from './tables/ledgers.ts';
import type { FormerMembersTable, InvitationsTable, MembersTable } from './tables/members.ts';
import type { ProxiesTable } from './tables/proxies.ts';
import type { ProxyVersionsTable } from './tables/proxy-versions.ts';
import type { ReactorFormulasTable } from './tables/reactor-formulas.ts';
import type { ReactorRunsTable } from './tables/reactor-runs.ts';
import type { ReactorsTable } from './tables/reactors.ts';
import type { SessionsTable } from './tables/sessions.ts';
import type { PendingSignInsTable, SignInLinksTable, SignInsTable } from './tables/sign-ins.ts';
import type { TenantsTable } from './tables/tenants.ts';
import type { TokensTable } from './tables/tokens.ts';
import type { IdentitiesTable, UsersTable } from './tables/users.ts';

/** Every table. Rows are the resource: snake_case, timestamps as ISO 8601 strings. */
export interface Tables {
  tenants: TenantsTable;
  applications: ApplicationsTable;
  application_keys: ApplicationKeysTable;
  key_uses: KeyUsesTable;
  proxies: ProxiesTable;
  proxy_versions: ProxyVersionsTable;
  reactor_formulas: ReactorFormulasTable;
  reactors: ReactorsTable;
  reactor_runs: ReactorRunsTable;
  sessions: SessionsTable;
  users: UsersTable;
  identities: IdentitiesTable;
  members: MembersTable;
  former_members: FormerMembersTable;
  former_names: FormerNamesTable;
  invitations: InvitationsTable;
  sign_ins: SignInsTable;
  sign_in_links: SignInLinksTable;
  pending_sign_ins: PendingSignInsTable;
  data_keys: DataKeysTable;
  tokens: TokensTable;
  due_tokens: DueTokensTable;
  counters: CountersTable;
  audit_log: AuditLogTable;
  audit_log_tokens: AuditLogTokensTable;
  audit_log_arrivals: AuditLogArrivalsTable;
  ledgers: LedgersTable;
  ledger_leaves: LedgerLeavesTable;
  ledger_nodes: LedgerNodesTable;
  idempotency_records: IdempotencyRecordsTable;
  invocation_counts: InvocationCountsTable;
  cache_leases: CacheLeasesTable;
  changes: ChangesTable;
}

export type Database = Kysely<Tables>;

export type Queryable = Kysely<Tables> | Transaction<Tables>;
