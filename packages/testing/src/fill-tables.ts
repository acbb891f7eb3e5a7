import type { Database } from '@sluice/database';
import { sql } from 'kysely';
import type pg from 'pg';
import { connectPostgres } from './connect-postgres.ts';
import { eventually } from './eventually.ts';
import { makeTemplate, openCopy, type TestDatabase } from './test-database.ts';

/** Row n belongs to Tenant n % 10. */
const tenants = 10;

const uuid = (group: number, n: string) => `('00000000-0000-4000-8${group}00-' || lpad((${n})::text, 12, '0'))::uuid`;
const tenant = uuid(0, `n % ${tenants}`);

const fills = {
  tenants: `insert into tenants (id, owner_id, name, closed_at)
    select ${uuid(0, 'n - 1')}, gen_random_uuid(), 'Tenant ' || n, case when n % 1000 = 0 then now() end
    from generate_series(1, $1::integer) n`,
  applications: `insert into applications (tenant_id, id, name, type, permissions, rules, key_hash, expires_at, created_at)
    select ${tenant}, ${uuid(1, 'n')}, 'Application ' || n, 'private', '{token:use}', '[]', sha256(n::text::bytea),
      case when n % 2 = 0 then now() + interval '1 day' end, now() - n * interval '1 second'
    from generate_series(1, $1::integer) n`,
  proxies: `insert into proxies (tenant_id, id, name, key_hash, key_ciphertext, destination_url, application_id, created_at)
    select ${tenant}, ${uuid(2, 'n')}, 'Proxy ' || md5(n::text), sha256(n::text::bytea), 'key', 'https://example.com',
      ${uuid(1, 'n')}, now() - n * interval '1 second'
    from generate_series(1, $1::integer) n`,
  reactor_formulas: `insert into reactor_formulas (tenant_id, id, name, code, created_at)
    select ${tenant}, ${uuid(3, 'n')}, 'Formula ' || md5(n::text), 'code', now() - n * interval '1 second'
    from generate_series(1, $1::integer) n`,
  reactors: `insert into reactors (tenant_id, id, name, code, formula_id, created_at)
    select ${tenant}, ${uuid(4, 'n')}, 'Reactor ' || md5(n::text), case when n % 2 = 0 then 'code' end,
      case when n % 2 = 1 then ${uuid(3, 'n')} end, now() - n * interval '1 second'
    from generate_series(1, $1::integer) n`,
  sessions: `insert into sessions (tenant_id, id, application_id, key_hash, nonce_hash, made_from, network,
      authorized_by, authorizing_key_id, expires_at, created_at)
    select ${tenant}, gen_random_uuid(), a.id, sha256(n::text::bytea), sha256(n::text::bytea), '192.0.2.1', '192.0.2.0/24',
      case when n % 2 = 0 then a.id end, case when n % 2 = 0 then k.id end, now() + n * interval '1 second',
      now() - n * interval '1 second'
    from generate_series(1, $1::integer) n
    join applications a on a.tenant_id = ${tenant} and a.id = ${uuid(1, 'n')}
    join application_keys k on k.tenant_id = a.tenant_id and k.application_id = a.id`,
  tokens: `insert into tokens (tenant_id, id, type, data_ciphertext, containers, fingerprint, active_month, created_at)
    select ${tenant}, 'token-' || n, 'token', 'data', '{/general/high/}', 'fingerprint-' || n / 20, '2020-01-01',
      now() - n * interval '1 second'
    from generate_series(1, $1::integer) n`,
  data_keys: `insert into data_keys (tenant_id, purpose, version, wrapped_key, root_key_id)
    select ${uuid(0, 'n / 5')}, (array['token_data', 'proxy_secrets', 'fingerprint', 'blind_index', 'idempotency'])[n % 5 + 1],
      1, 'key', 'root'
    from generate_series(0, $1::integer - 1) n`,
  counters: `insert into counters (tenant_id, counter, slot, value)
    select ${uuid(0, 'n / 4')}, 'counter-' || n % 4, 0, 1 from generate_series(0, $1::integer - 1) n`,
  invocation_counts: `insert into invocation_counts
      (tenant_id, step, start, kind, id, requests, destination_errors, errors, durations)
    select ${tenant}, (array[60, 900, 21600])[n % 3 + 1], date_trunc('day', now()) - (n / 60) * interval '6 hours',
      'proxy', ${uuid(2, 'n')}, 1, 0, '{}', '{}'
    from generate_series(1, $1::integer) n`,
  idempotency_records: `insert into idempotency_records
      (tenant_id, application_id, request_hash, body_hash, claim_id, locked_until, created_at)
    select ${tenant}, ${uuid(1, 'n')}, sha256(n::text::bytea), 'body', gen_random_uuid(), now(), now()
    from generate_series(1, $1::integer) n`,
};

const ginIndexes: { readonly [table: string]: string } = { tokens: 'tokens_search_terms' };

type FilledTable = keyof typeof fills;

export const filled = {
  /** 0 to 9: one of the ten Tenants that own the rows of the other tables. */
  tenantId: (n: number) => idOf(0, n),
  applicationId: (n: number) => idOf(1, n),
  proxyId: (n: number) => idOf(2, n),
  formulaId: (n: number) => idOf(3, n),
  reactorId: (n: number) => idOf(4, n),
  tokenId: (n: number) => `token-${n}`,
};

function idOf(group: number, n: number): string {
  return `00000000-0000-4000-8${group}00-${String(n).padStart(12, '0')}`;
}

const rowCount = 100_000;
const template = 'sluice_filled';

/**
 * A database of the test file's own in which tables have the rows of a large installation, 100,000 each, made without
 * checks of foreign keys, and Postgres knows its statistics. They are made once in a test run. Dropped with the stack.
 */
export async function openFilledDatabase(stack: AsyncDisposableStack): Promise<TestDatabase> {
  await makeTemplate(template, fillTables);
  return openCopy(stack, template);
}

async function fillTables(url: string): Promise<void> {
  await using client = await connectPostgres(url);
  for (const [table, fill] of Object.entries(fills)) {
    const index = ginIndexes[table];
    const rebuildIndex = index ? await dropIndex(client, index) : undefined;
    await client.query(fill, [rowCount]);
    await rebuildIndex?.();
  }
  // A trigger gives each Application its key.
  await client.query(`vacuum analyze ${[...Object.keys(fills), 'application_keys'].join(', ')}`);
}

/** Building such an index anew is ten times as fast as updating it row by row. */
async function dropIndex(client: pg.Client, name: string): Promise<() => Promise<void>> {
  const { rows } = await client.query('select pg_get_indexdef($1::regclass) as definition', [name]);
  await client.query(`drop index ${name}`);
  return async () => void (await client.query(rows[0].definition));
}

/** Until Postgres knows of nearly all pages that everybody sees their rows, so that an index alone answers. */
export async function vacuumWhole(db: Database, table: FilledTable): Promise<void> {
  await eventually(`${table} is visible`, async () => {
    await sql`vacuum ${sql.ref(table)}`.execute(db);
    const { rows } = await sql<{ isWhole: boolean }>`
      select relallvisible >= 0.99 * relpages as "isWhole" from pg_class where relname = ${table}`.execute(db);
    return rows[0]?.isWhole ?? false;
  });
}
