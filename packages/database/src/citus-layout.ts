import type { Tables } from './database.ts';

interface Placement {
  on: 'shards' | 'coordinator';
  why: string;
}

/** Large tables are spread by Tenant. Small ones that decide stay on one node, because revocation needs one order. */
export const citusLayout: Record<keyof Tables, Placement> = {
  tokens: { on: 'shards', why: 'the largest, always asked for by Tenant' },
  idempotency_records: { on: 'shards', why: 'one for each write that has a key' },
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
  application_keys: { on: 'coordinator', why: 'found by the hash of the key, before the Tenant is known' },
  proxies: { on: 'coordinator', why: 'found by the hash of the key, before the Tenant is known' },
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

/** A generated column of `tokens` calls these functions, so every node needs them. */
const functionsOnEveryNode = [
  'token_terms(uuid, text, text[], jsonb, text[], uuid, uuid)',
  'token_term(uuid, text, text)',
];

export function citusStatements(): string {
  const names = Object.keys(citusLayout) as (keyof Tables)[];
  const on = (place: Placement['on']) => names.filter((name) => citusLayout[name].on === place);
  const [first = '', ...others] = on('shards');
  const distribute = (table: string, colocated: string) =>
    `-- ${citusLayout[table as keyof Tables].why}\nselect create_distributed_table('${table}', 'tenant_id'${colocated});`;
  return [
    '-- Run this once, as a superuser on the coordinator, when the database is migrated and empty.',
    '-- Not for production yet: this version was tested for what Citus takes, and not on Citus (infra/stores.md, Citus).',
    'begin;',
    'create extension if not exists citus;',
    ...functionsOnEveryNode.map((each) => `select create_distributed_function('${each}');`),
    distribute(first, ''),
    ...others.map((table) => distribute(table, `, colocate_with => '${first}'`)),
    '-- On the coordinator stay, as they are:',
    ...on('coordinator').map((table) => `--   ${table}: ${citusLayout[table].why}`),
    '-- Compiling a plan for one row costs ten times what running it does.',
    "do $$ begin execute format('alter database %I set jit = off', current_database()); end $$;",
    'commit;',
    '-- Then give every service DATABASE_ON_SHARDS=true: without it tokens are created by one statement, which Citus refuses.',
    '',
  ].join('\n');
}
