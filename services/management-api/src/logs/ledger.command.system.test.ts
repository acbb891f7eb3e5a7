import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { joinSubtrees } from '@sluice/ledger';
import { programEnvironment, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { sequenceLog } from '../testing/sequence-log.ts';
import { startTestManagement } from '../testing/test-management.ts';

const script = fileURLToPath(new URL('ledger.command.ts', import.meta.url));

/** The Tenant was closed after its log was made through the API and an auditor kept files. */
const api = useStack(async (stack) => {
  const management = await startTestManagement(stack);
  const { anotherTenant, application, send, db, url } = management;
  const { management_key: key, tenant_id } = await anotherTenant('T');
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'ledger-')), (made) => rm(made, { recursive: true }));
  for (let i = 0; i < 6; i++) await application({}, { key });
  // Some line readers end lines at these
  await sql`
    update audit_log set detail = jsonb_build_object('token_ids', array[${'line\u2028paragraph\u2029end'}::text])
    where tenant_id = ${tenant_id}
  `.execute(db);
  const ledger = await sequenceLog(db, tenant_id);
  const headers = { 'SVC-API-KEY': key };
  const files = { key: ledger.keyFile, checkpoint: '', export: '' };
  files.checkpoint = await (await fetch(`${url}/logs/checkpoint`, { headers })).text();
  files.export = await (await fetch(`${url}/logs/export`, { headers })).text();
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  expect((await send('DELETE', '/tenants/self', { key })).status).toBe(204);
  return { ...management, tenant_id, folder, files };
});

async function ledger(args: string[], { withDatabase = true, input = '' } = {}) {
  const { folder, databaseUrl } = api.current;
  const env = { ...programEnvironment(), ...(withDatabase && { DATABASE_URL: databaseUrl }) };
  return new Promise<{ code: number; out: string; error: string }>((resolve) => {
    const child = execFile(process.execPath, [script, ...args], { cwd: folder, env }, (failure, out, error) =>
      resolve({ code: Number(failure?.code ?? 0), out, error }),
    );
    child.stdin?.end(input);
  });
}

const trusted = ['--checkpoint', 'checkpoint', '--key', 'key'];
const verify = (args: string[], input?: string) =>
  ledger(['verify', ...args], { withDatabase: false, ...(input !== undefined && { input }) });

test('what the API exported verifies without database and secret, as a file and from standard input', async () => {
  const complete = { code: 0, out: 'Complete and unchanged up to 7\n', error: '' };
  expect(await verify(['export', ...trusted])).toEqual(complete);
  expect(await verify(['-', ...trusted], api.current.files.export)).toEqual(complete);
  expect(api.current.files.export).toMatch(/\u2028.*\u2029/s);
});

test('the log of a closed Tenant is exported from the machine, with its checkpoint', async () => {
  const { tenant_id, folder, files } = api.current;
  const exported = await ledger(['export', '--tenant', tenant_id.toUpperCase()]);
  expect(exported).toEqual({ code: 0, out: files.export, error: '' });
  expect((await ledger(['checkpoint', '--tenant', tenant_id])).out).toBe(files.checkpoint);
  expect((await ledger(['export', '--tenant', tenant_id, '--csv', '--start', '6', '--output', 'log.csv'])).code).toBe(
    0,
  );
  expect((await readFile(join(folder, 'log.csv'), 'utf8')).split('\r\n')).toHaveLength(3);
  const again = await ledger(['export', '--tenant', tenant_id, '--output', 'log.csv']);
  expect([again.code, again.error]).toEqual([1, expect.stringContaining('EEXIST')]);
});

test('rows of a filtered export verify by the proofs of the machine', async () => {
  const { tenant_id, folder, files } = api.current;
  const lines = files.export.split('\n').slice(2, 4);
  await writeFile(join(folder, 'some'), `${lines.join('\n')}\n`);
  const proofs = await ledger(['prove', '--tenant', tenant_id, ...lines.map((line) => JSON.parse(line).id)]);
  await writeFile(join(folder, 'proofs'), proofs.out);
  const { code, out } = await verify(['some', '--proofs', 'proofs', '--key', 'key']);
  expect([code, out]).toEqual([0, expect.stringContaining('2 rows are unchanged')]);
});

test('an export whose first rows stand as dropped fails, where there is no retention', async () => {
  const { files } = api.current;
  const lines = files.export.split('\n');
  const dropped = lines.slice(0, 4).map((line) => Buffer.from(JSON.parse(line).leaf_hash, 'hex'));
  const head = {
    dropped: 4,
    hashes: [
      joinSubtrees(
        [
          [0, 1],
          [2, 3],
        ].map((pair) => joinSubtrees(pair.map((i) => dropped[i] ?? Buffer.alloc(0)))),
      ),
    ],
  };
  const forged = [
    JSON.stringify({ ...head, hashes: head.hashes.map((hash) => hash.toString('base64')) }),
    ...lines.slice(4),
  ].join('\n');
  const { code, out } = await verify(['-', ...trusted], forged);
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(/the first 4 rows of the ledger, but the newest checkpoint says 0\. /),
  ]);
  const told = await verify(['-', ...trusted, '--dropped', '4'], forged);
  expect([told.code, told.out]).toEqual([
    1,
    expect.stringMatching(/--dropped says .* 4 rows, but the newest checkpoint says 0/),
  ]);
});

test.each<[string, (tenantId: string) => ReturnType<typeof sql>, RegExp]>([
  [
    'changed',
    (id) =>
      sql`update audit_log set entity_id = 'other' where id = (select log_id from ledger_leaves where tenant_id = ${id} and leaf_index = 3)`,
    /first row that differs from its hash is row 3 /,
  ],
  [
    'deleted',
    (id) =>
      sql`delete from audit_log where id = (select log_id from ledger_leaves where tenant_id = ${id} and leaf_index = 2)`,
    /Row 2 is missing/,
  ],
  [
    'moved',
    (id) =>
      sql`update ledger_leaves set leaf_index = 1 - leaf_index + 1000 where tenant_id = ${id} and leaf_index in (0, 1)`,
    /Row 0 is missing/,
  ],
])('a row that was %s in Postgres is named', async (_name, tamper, reason) => {
  const { tenant_id, db } = api.current;
  await tamper(tenant_id).execute(db);
  const { out } = await ledger(['export', '--tenant', tenant_id]);
  const verdict = await verify(['-', ...trusted], out);
  expect([verdict.code, verdict.out]).toEqual([1, expect.stringMatching(reason)]);
});

test('what cannot be done leaves with 1, what is not understood with 2, and it says why', async () => {
  const cases: [args: string[], code: number, reason: RegExp][] = [
    [['sign'], 2, /The commands are/],
    [['verify', 'none', ...trusted], 1, /none cannot be read: ENOENT/],
    [['checkpoint', '--tenant', 'c0ffee00-0000-4000-8000-000000000000'], 1, /no signed checkpoint/],
  ];
  const left = await Promise.all(cases.map(([args]) => ledger(args)));
  expect(left.map(({ code, error }) => [code, error])).toEqual(
    cases.map(([, code, reason]) => [code, expect.stringMatching(reason)]),
  );
});

test('--help says how it is used, and a database that is not set is named', async () => {
  const { code, out } = await ledger(['--help']);
  expect([code, out]).toEqual([0, expect.stringContaining('Usage: npm run -s ledger -- verify')]);
  const unset = await ledger(['export', '--tenant', api.current.tenant_id], { withDatabase: false });
  expect([unset.code, unset.error]).toEqual([78, expect.stringContaining('DATABASE_URL')]);
});
