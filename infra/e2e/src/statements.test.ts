import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { citusLayout } from '@sluice/database';
import { call, connectPostgres, eventually, openTemporaryFolder, startDestination, useStack } from '@sluice/testing';
import type pg from 'pg';
import { type Platform, startPlatform } from './platform.ts';
import { runMainJob } from './run-main-job.ts';
import { runProgram } from './run-program.ts';

const withoutTenants = ['cache_leases'];

/** What need not name its Tenant, and why. All of it is on the coordinator where tables are spread over shards. */
const exceptions: [reason: string, ...statements: RegExp[]][] = [
  [
    'writes the log of Tenants that it names, before their closing',
    /^with open as \(select id from tenants where id = any\(\$\d+::uuid\[\]\) and closed_at is null for key share\)/,
  ],
  ['finds the Tenant by the hash of a key', /"(application_keys|proxies|sessions)"\."key_hash" = \$\d/],
  ['lists the Tenants that are to be purged', /^select "id" from "tenants" where "closed_at" is not null/],
  [
    'sweeps runs of reactors that were lost, that wait, or that ended a day ago',
    /^with (lost|overdue|old) as materialized \( select tenant_id, id.* from reactor_runs where /,
    /^select tenant_id, id, tries from \( select tenant_id, id, tries, row_number\(\) over .* from reactor_runs where state = /,
  ],
  ['relays changes whose writer has died', /^select .* from "changes" where "created_at" < /],
  [
    'sweeps Applications, their keys and sessions, and what people sign in with',
    /^with due as \( select [^()]* from "?(application_keys|applications|sessions|invitations|sign_in_links|sign_ins|pending_sign_ins)"? where expires_at/,
  ],
  [
    'lists the Tenants whose log has rows that the ledger has not sequenced',
    /^with recursive due as \( ?\(select tenant_id from audit_log_arrivals order by tenant_id/,
  ],
  [
    'lists the Tenants whose log has leaves that prove nothing any more',
    /^select tenant_id from ledgers where dropped > /,
  ],
  [
    'lists the Tenants whose checkpoint does not say how many rows retention has dropped',
    /^select tenant_id from ledgers where dropped > \$1 and position\(/,
  ],
  [
    'lists the ledgers whose newest checkpoint the witness has not seen',
    /^select "tenant_id", "size", "checkpoint" from "ledgers" where "checkpoint" is not null/,
  ],
  [
    'lists the Tenants whose log has rows that are past their retention',
    /^select ledgers\.tenant_id from ledgers join ledger_leaves as leaf on leaf\.tenant_id = ledgers\.tenant_id/,
  ],
  [
    'deletes former names that only rows past their retention show',
    /^delete from former_names where \(tenant_id, kind, /,
  ],
  ['counts the data keys under each root key, for its rotation', /^select root_key_id, count\(\*\) as data_keys/],
  ['lists the Tenants whose log was kept long enough', /^select tenant_id from ledgers where closed_at <= /],
  [
    'deletes people whom no Tenant knows any more, after the last one that did',
    /^select from users where id = any\(\$\d+::uuid\[\]\) order by id for update$/,
    /^delete from users where id = any\(\$\d+::uuid\[\]\) and not exists \(select from members /,
  ],
  [
    'lists the Tenants of which tokens are due',
    /^select distinct tenant_id from due_tokens where kind = \$1 and due_at <= /,
  ],
];

/** The same for rare sweeps, which a short run may not see. */
const seldom: typeof exceptions = [
  ['lists all Tenants, for what was overlooked', /^select "id" from "tenants"$/],
  ['measures figures of the whole platform, each by itself', /^select \( ?select .*\) as value$/],
];

const ours = '/* of the test */';

const world = useStack(async (closing) => {
  const witness = await openTemporaryFolder(closing, 'witness');
  const platform = await startPlatform(closing, {
    environment: {
      ...{ SWEEP_INTERVAL_MS: '1000', DATABASE_ON_SHARDS: 'true' },
      ...{ LEDGER_WITNESS_FILE: join(witness, 'checkpoints'), AUDIT_RETENTION_DAYS: '1' },
    },
    postgresSettings: { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.max': '5000' },
  });
  const client = closing.use(await connectPostgres(platform.stack.databaseUrl));
  await client.query('create extension pg_stat_statements');
  return { platform, client, destination: await startDestination(closing) };
});

/** What operators do: every key is changed, while everything is there. */
async function rotateKeys({ directory, stack }: Platform): Promise<void> {
  const keys = (...args: string[]) => runProgram('services/token-vault/src/keys/keys.command.ts', args, { directory });
  await keys('rotate-data', '--tenant', stack.credentials.tenant_id);
  await keys('rotate-root');
  await keys('status', '--tenant', stack.credentials.tenant_id);
}

/** More rows than a stored subtree has, for each of which its time is over; resolves when retention has dropped them. */
async function dropOldRows(client: pg.Client): Promise<void> {
  const tenantId = randomUUID();
  await client.query(
    `insert ${ours} into audit_log (tenant_id, at, operation, entity_type, entity_id)
    select $1, now() - interval '3 months', 'use', 'proxy', 'p' from generate_series(1, 300)`,
    [tenantId],
  );
  await eventually('retention', async () => {
    const { rows } = await client.query<{ dropped: string; leaves: string }>(
      `select ${ours} dropped, (select count(*) from ledger_leaves as leaf where leaf.tenant_id = ledgers.tenant_id) as leaves
      from ledgers where tenant_id = $1`,
      [tenantId],
    );
    return rows[0]?.dropped === '300' && Number(rows[0].leaves) === 300 % 16;
  });
}

const tablesAfter = (keywords: string, statement: string) =>
  [...statement.matchAll(new RegExp(`\\b(?:${keywords})\\s+(?:only\\s+)?"?(\\w+)"?`, 'gi'))]
    .map(([, table = '']) => table)
    .filter((table): table is keyof typeof citusLayout => Object.hasOwn(citusLayout, table));

const tablesOf = (statement: string) => tablesAfter('from|join|into|update|using', statement);

/** Whether each row that it reads or writes is of a Tenant that it names. */
function namesTenant(statement: string): boolean {
  const inserts = [...statement.matchAll(/\binsert into "?\w+"? \(([^)]*)\)/gi)];
  // Rows that an insert reads are found by its own Tenant.
  const readsNothing = tablesAfter('from|join|update|using', statement).length === 0;
  const insertsOnly = inserts.length > 0 && (readsNothing || /^insert /i.test(statement));
  if (insertsOnly) return inserts.every(([, columns]) => /\btenant_id\b/.test(columns ?? ''));
  return /"?(tenant_id|tenantId|tenants"?\."?id)"?\s*=\s*(any\()?\$\d/.test(statement) || ofTenants.test(statement);
}

const ofTenants = /^(select|update|delete)(?:(?!\bjoin\b).)*"?tenants"?(?:(?!\bjoin\b).)*\bwhere "?id"? = \$\d/is;

/** Also where earlier layouts spread it. */
const mayBeSpread = ['tokens', 'idempotency_records', 'invocation_counts'];

/** What Citus would refuse, or would give to every shard. */
async function faultsOf(statement: string): Promise<string[]> {
  const places = new Set(tablesOf(statement).map((table) => citusLayout[table].on));
  const isChange = new RegExp(`\\b(update|delete from) "?(${mayBeSpread.join('|')})\\b`, 'i').test(statement);
  return [
    ...(places.size > 1 ? ['names tables of shards and of the coordinator'] : []),
    ...(/\bctid\b/i.test(statement) ? ['names rows by their place'] : []),
    ...(isChange && /clock_timestamp\(\)/.test(statement) ? ['changes rows of shards with a volatile function'] : []),
    ...((await isMutableOnConflict(statement)) ? ['has a function after "on conflict" that is not immutable'] : []),
  ];
}

/**
 * Postgres says which functions are immutable, also those behind operators: it refuses all others as the predicate of an
 * index. pg_stat_statements shows constants as parameters.
 */
async function isMutableOnConflict(statement: string): Promise<boolean> {
  const [, table = '', assignments = '', condition = 'true'] =
    /\binsert into "?(\w+)"?.*?\bon conflict\b.*?\bdo update set (.*?)(?: where (.*?))?(?= returning |$)/i.exec(
      statement,
    ) ?? [];
  if (!mayBeSpread.includes(table)) return false;
  const predicate = condition
    .replaceAll(new RegExp(`\\b(excluded|${table})\\.`, 'gi'), '')
    .replaceAll(/interval \$\d+/gi, "interval '1 day'")
    .replaceAll(/\$\d+/g, 'null');
  const { client } = world.current;
  await client.query(`begin ${ours}; create temporary table probe (like ${table}) on commit drop`);
  try {
    await client.query(`create index ${ours} on probe (tenant_id) where ${predicate}`);
    return /\b(now|\w+_timestamp|random|gen_random_uuid)\(/i.test(assignments);
  } catch (error) {
    if ((error as { code?: string }).code !== '42P17') throw error;
    return true;
  } finally {
    await client.query('rollback');
  }
}

test('every statement of the product names its Tenant, but for a few', async () => {
  const { platform, client, destination } = world.current;
  const { stack } = platform;
  await client.query('select pg_stat_statements_reset()');
  await runMainJob(stack, destination, () => rotateKeys(platform));
  await dropOldRows(client);
  const count = async (from: string) =>
    Number((await client.query<{ count: string }>(`select ${ours} count(*) from ${from}`)).rows[0]?.count);
  const expiring = ['tokens', 'applications', 'application_keys', 'sessions'].map(
    (table) => `${table} where expires_at is not null`,
  );
  for (const from of expiring) await eventually(`the sweep of ${from}`, async () => (await count(from)) === 0);
  await call(stack.baseUrl, 'DELETE', '/tenants/self', { key: stack.credentials.management_key });
  await eventually('the purge', async () => (await count('tenants where closed_at is not null')) === 0);
  const { rows } = await client.query<{ query: string }>(
    `select ${ours} distinct query from pg_stat_statements(true)
    where dbid = (select oid from pg_database where datname = current_database())`,
  );
  const statements = rows.map(({ query }) => query.replaceAll(/\s+/g, ' ').trim());
  const ofTables = statements.filter(
    (each) => !each.includes(ours) && tablesOf(each).some((table) => !withoutTenants.includes(table)),
  );
  expect(ofTables.length).toBeGreaterThan(40);
  const foreign = ofTables.filter((statement) => !namesTenant(statement));
  const patterns = exceptions.flatMap(([, ...each]) => each);
  const faults = [];
  for (const each of ofTables) faults.push(...(await faultsOf(each)).map((fault) => [fault, each]));
  expect(faults).toEqual([]);
  // What has a condition after "on conflict" was met.
  expect(ofTables.filter((each) => /into idempotency_records .* do update set .* where /.test(each))).not.toEqual([]);
  expect(foreign.filter((each) => tablesOf(each).some((table) => citusLayout[table].on === 'shards'))).toEqual([]);
  const allowed = [...patterns, ...seldom.flatMap(([, ...each]) => each)];
  expect(foreign.filter((statement) => !allowed.some((pattern) => pattern.test(statement)))).toEqual([]);
  // What is not met any more is no exception.
  expect(patterns.filter((pattern) => !foreign.some((statement) => pattern.test(statement)))).toEqual([]);
});

test.each([
  'select * from "tokens" where "id" = $1',
  'delete from tokens where ctid = any($1)',
  'select "id" from "tenants" join "tokens" on true where "id" = $1',
  'insert into "tokens" ("id") values ($1)',
])('the test itself would find: %s', (statement) => {
  expect(namesTenant(statement)).toBe(false);
});

const claim =
  'insert into idempotency_records (tenant_id) values ($1) on conflict (tenant_id) do update set claim_id = excluded.claim_id';

test.each([
  'with gone as (delete from tokens where tenant_id = $1 returning id) insert into audit_log (tenant_id) select $1 from gone',
  'delete from tokens where tenant_id = $1 and ctid = any($2)',
  'update "tokens" set modified_at = clock_timestamp() where tenant_id = $1',
  `${claim} where idempotency_records.created_at < excluded.created_at - interval $1`,
  `${claim} where excluded.created_at < clock_timestamp() returning claim_id`,
  `${claim}, created_at = now()`,
])('Citus would not take: %s', async (statement) => {
  expect(await faultsOf(statement)).toHaveLength(1);
});

test.each([
  claim,
  `${claim} where excluded.created_at - idempotency_records.created_at > interval $1 or excluded.claim_id = $2`,
])('Citus would take: %s', async (statement) => {
  expect(await faultsOf(statement)).toEqual([]);
});
