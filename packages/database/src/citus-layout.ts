import type { Tables } from './database.ts';

interface Placement {
  on: 'shards' | 'coordinator';
  why: string;
}

/**
 * Large tables are distributed by Tenant. Small tables that decide about access stay on one node, because revocation
 * needs one order.
 */
export const citusLayout: Record<keyof Tables, Placement> = {
  tokens: { on: 'shards', why: 'the largest, always asked for by Tenant' },
  invocation_counts: { on: 'shards', why: 'many rows, written each minute and asked for by Tenant' },
  idempotency_records: {
    on: 'coordinator',
    why: 'asked for by every write that has a key, also of Applications and Proxies, which must go on without a shard',
  },
  due_tokens: { on: 'coordinator', why: 'small; says to which Tenants sweeps go' },
  counters: {
    on: 'coordinator',
    why: 'counts Applications and Proxies too, which are revoked while a shard is away',
  },
  tenants: { on: 'coordinator', why: 'small; closing one must be seen by all at once' },
  applications: { on: 'coordinator', why: 'revoked with volatile functions, in one order with the outbox' },
  sessions: {
    on: 'coordinator',
    why: 'few and short-lived; found by the hash of a key, and gone with its Application',
  },
  users: { on: 'coordinator', why: 'people, who may be members of several Tenants' },
  identities: { on: 'coordinator', why: 'found before the Tenant is known' },
  members: { on: 'coordinator', why: 'few, and whoever is removed must be refused everywhere at once' },
  former_members: { on: 'coordinator', why: 'written with the member that is removed' },
  former_names: { on: 'coordinator', why: 'written by triggers of the tables that have the names' },
  invitations: { on: 'coordinator', why: 'few; found by the hash of a secret, before the Tenant is known' },
  sign_ins: { on: 'coordinator', why: 'found by the hash of a cookie, and gone with their member or key' },
  pending_sign_ins: { on: 'coordinator', why: 'found by the hash of a cookie, before the Tenant is known' },
  sign_in_links: { on: 'coordinator', why: 'found by the hash of a secret, before the Tenant is known' },
  application_keys: { on: 'coordinator', why: 'found by the hash of the key, before the Tenant is known' },
  key_uses: { on: 'coordinator', why: 'small; gone with its key' },
  proxies: { on: 'coordinator', why: 'found by the hash of the key, before the Tenant is known' },
  proxy_versions: { on: 'coordinator', why: 'written with the Proxy that is changed' },
  reactor_formulas: { on: 'coordinator', why: 'small; what reactors run' },
  reactors: {
    on: 'coordinator',
    why: 'small; changed in one order with the outbox, and unset by a deleted Application',
  },
  reactor_runs: {
    on: 'coordinator',
    why: 'few, kept for a day; found by their leases across all Tenants, and the Tenant whose row ends takes them along',
  },
  data_keys: { on: 'coordinator', why: 'small; destroyed in the transaction that closes the Tenant' },
  audit_log: { on: 'coordinator', why: 'a trigger notes what is added to it, and shards have no such triggers' },
  audit_log_tokens: { on: 'coordinator', why: 'written by that trigger' },
  audit_log_arrivals: { on: 'coordinator', why: 'written by that trigger' },
  ledgers: { on: 'coordinator', why: 'sequences what the trigger noted' },
  ledger_leaves: { on: 'coordinator', why: 'written with the ledger that it belongs to' },
  ledger_nodes: { on: 'coordinator', why: 'written with the ledger that it belongs to' },
  cache_leases: { on: 'coordinator', why: 'of processes, not of Tenants' },
  changes: { on: 'coordinator', why: 'the outbox, written in the transaction of what was changed' },
};

/** A generated column of `tokens`, and the statement that adds to `invocation_counts`, call these on every node. */
const functionsOnEveryNode = [
  'token_terms(uuid, text, text[], jsonb, text[], uuid, uuid)',
  'token_term(uuid, text, text)',
  'add_counts(jsonb, jsonb)',
];

export function citusStatements(): string {
  const names = Object.keys(citusLayout) as (keyof Tables)[];
  const on = (place: Placement['on']) => names.filter((name) => citusLayout[name].on === place);
  const [first = '', ...others] = on('shards');
  const distribute = (table: string, colocated: string) =>
    `-- ${citusLayout[table as keyof Tables].why}\nselect create_distributed_table('${table}', 'tenant_id'${colocated});`;
  return [
    '-- In this order, or all shards are placed on the coordinator without a word:',
    '-- 1. on every node: the database, with shared_preload_libraries = citus, and in it: create extension citus;',
    "-- 2. on the coordinator: select citus_set_coordinator_host('its address'); and for each worker:",
    "--    select citus_add_node('its address', 5432);",
    '-- 3. npm run migrate, on the coordinator',
    '-- 4. this, once, as a superuser on the coordinator, while the tables are empty',
    '-- Read infra/stores.md, Citus, before production: it says what was tried and what can be lost.',
    'begin;',
    'create extension if not exists citus;',
    warnWithoutWorkers,
    ...functionsOnEveryNode.map((each) => `select create_distributed_function('${each}');`),
    distribute(first, ''),
    ...others.map((table) => distribute(table, `, colocate_with => '${first}'`)),
    '-- On the coordinator stay, as they are:',
    ...on('coordinator').map((table) => `--   ${table}: ${citusLayout[table].why}`),
    '-- Compiling a plan for one row costs ten times what running it does.',
    ofDatabase('jit = off'),
    '-- A worker that hangs holds a request this many milliseconds for each new connection, and not thirty seconds.',
    ofDatabase('citus.node_connection_timeout = 1000'),
    'commit;',
    '-- Then give every service DATABASE_ON_SHARDS=true: without it tokens are created by one statement, which Citus refuses.',
    '',
  ].join('\n');
}

const ofDatabase = (setting: string) =>
  `do $$ begin execute format('alter database %I set ${setting}', current_database()); end $$;`;

const warnWithoutWorkers = `do $$ begin
  if not exists (select from pg_dist_node where groupid <> 0 and noderole = 'primary' and isactive and shouldhaveshards) then
    raise warning 'No worker is registered: all shards will be on the coordinator. Roll back, and add workers by citus_add_node first.';
  end if;
end $$;`;
