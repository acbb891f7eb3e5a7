import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connectPostgres, openTestDatabase, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { citusLayout, citusStatements } from './citus-layout.ts';

const database = useStack((stack) => openTestDatabase(stack));
const run = promisify(execFile);
const command = fileURLToPath(new URL('migrate.command.ts', import.meta.url));

const onShards = Object.entries(citusLayout).flatMap(([table, { on }]) => (on === 'shards' ? [table] : []));

test('every table of the database has its place', async () => {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace
    and relkind in ('r', 'p') and not relispartition and relname not like 'kysely%'`.execute(database.current.db);
  expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(citusLayout).sort());
});

test('what is on shards can be: unique indexes begin with the Tenant, and no foreign key leads out or in', async () => {
  const { rows: unique } = await sql<{ table: string; definition: string }>`
    select tablename as table, indexdef as definition from pg_indexes where schemaname = 'public'`.execute(
    database.current.db,
  );
  const ofShards = unique.filter(({ table, definition }) => onShards.includes(table) && definition.includes('UNIQUE'));
  expect(ofShards.length).toBeGreaterThan(0);
  expect(ofShards.filter(({ definition }) => !/\(tenant_id[,)]/.test(definition))).toEqual([]);
  const { rows: keys } = await sql<{ tables: string[] }>`
    select array[conrelid::regclass::text, confrelid::regclass::text] as tables from pg_constraint
    where contype = 'f' and conparentid = 0`.execute(database.current.db);
  expect(keys.filter(({ tables }) => tables.some((table) => onShards.includes(table)))).toEqual([]);
});

test('the functions that it sends to every node are there, and are all that generated columns call', async () => {
  for (const [, signature = ''] of citusStatements().matchAll(/create_distributed_function\('([^']*)'\)/g)) {
    const { rows } = await sql<{ found: string | null }>`select to_regprocedure(${signature})::text as found`.execute(
      database.current.db,
    );
    expect({ signature, found: rows[0]?.found }).toEqual({ signature, found: expect.any(String) });
  }
});

test('npm run migrate -- --print-citus prints the statements without a database, and refuses what it does not know', async () => {
  const print = (option: string) => run(process.execPath, [command, option], { env: {} });
  const { stdout } = await print('--print-citus');
  expect(stdout).toBe(citusStatements());
  expect(stdout).toContain("create_distributed_table('tokens', 'tenant_id')");
  await expect(print('--print-cytus')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('Usage:') });
});

test('the layout says its order, bounds new connections to workers, and warns where no worker is registered', async () => {
  const statements = citusStatements();
  const steps = ['create extension citus', 'citus_set_coordinator_host', 'citus_add_node', 'npm run migrate', 'begin;'];
  const places = steps.map((step) => statements.indexOf(step));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(statements).toContain('set citus.node_connection_timeout = 1000');
  const check = statements.match(/do \$\$ begin\n {2}if not exists \(select from pg_dist_node[^$]*\$\$;/)?.[0] ?? '';
  const warningsWith = async (nodes: string) => {
    await using client = await connectPostgres(database.current.url);
    const warnings: (string | undefined)[] = [];
    client.on('notice', ({ severity, message }) => warnings.push(`${severity}: ${message}`));
    await client.query(`create temporary table pg_dist_node as select * from (values ${nodes})
      as node(groupid, noderole, isactive, shouldhaveshards)`);
    await client.query(check);
    return warnings;
  };
  const coordinator = `(0, 'primary', true, true)`;
  expect(await warningsWith(coordinator)).toEqual([expect.stringMatching(/^WARNING: No worker is registered/)]);
  expect(await warningsWith(`${coordinator}, (1, 'primary', true, true)`)).toEqual([]);
});
