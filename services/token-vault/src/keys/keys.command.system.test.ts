import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  openTestCoherence,
  openTestDatabase,
  programEnvironment,
  testRedisUrl,
  useChildren,
  useStack,
} from '@sluice/testing';
import { type Actor, assembleVault, localKeyWrapper, revealForUse, tokenize } from '@sluice/vault';
import { sql } from 'kysely';

const own = useChildren();
const rootKey = () => randomBytes(32).toString('base64');
/** Four batches. */
const count = 2000;

const setup = useStack(async (stack) => {
  const database = await openTestDatabase(stack);
  const { db } = database;
  const ROOT_KEY = rootKey();
  const openWith = async (key: string) => {
    const { caches, changes } = await openTestCoherence(database, stack);
    const keyWrapper = localKeyWrapper(key);
    return assembleVault({ db, caches, changes, keyWrapper, disclosures: { record: async () => {} } });
  };
  const vault = await openWith(ROOT_KEY);
  return { ...database, ROOT_KEY, openWith, vault };
});

interface Run {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  exit: Promise<number | null>;
}

function run(args: string[], env: Record<string, string> = {}): Run {
  const path = fileURLToPath(new URL('keys.command.ts', import.meta.url));
  const { url, ROOT_KEY } = setup.current;
  const settings = { ...programEnvironment(), DATABASE_URL: url, REDIS_URL: testRedisUrl(), ROOT_KEY, ...env };
  const child = own(spawn(process.execPath, [path, ...args], { env: settings }));
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  return { child, output, exit: once(child, 'close').then(([code]) => code) };
}

async function finish({ exit, output }: Run) {
  return { code: await exit, ...output };
}

async function createTenant() {
  const { db, vault } = setup.current;
  const actor: Actor = { id: randomUUID(), tenantId: randomUUID(), traceId: 'trace', permissions: [], rules: [] };
  const permissions = ['token:create', 'token:use'];
  actor.rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }];
  await db.insertInto('tenants').values({ id: actor.tenantId, owner_id: randomUUID(), name: 'T' }).execute();
  const values = new Map<string, string>();
  for (let from = 0; from < count; from += 1000) {
    const texts = Array.from({ length: 1000 }, (_, i) => `value ${from + i}`);
    const ids = (await tokenize(vault, actor, texts)) as string[];
    ids.forEach((id, i) => void values.set(id, texts[i] ?? ''));
  }
  return { actor, values };
}

async function rowsUnder({ tenantId }: Actor, version: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from tokens
    where tenant_id = ${tenantId} and get_byte(data_ciphertext, 4) = ${version}`.execute(setup.current.db);
  return rows[0]?.count ?? 0;
}

async function someRotated({ child, output }: Run, actor: Actor): Promise<void> {
  while ((await rowsUnder(actor, 2)) === 0) {
    if (child.exitCode !== null) throw new Error(`it ended before: ${output.stderr}`);
    await delay(20);
  }
}

async function expectAllReadable(actor: Actor, values: Map<string, string>, key = setup.current.ROOT_KEY) {
  const reader = await setup.current.openWith(key);
  const ids = [...values.keys()];
  for (let i = 0; i < ids.length; i += 1000) {
    const slice = ids.slice(i, i + 1000);
    expect(await revealForUse(reader, actor, slice)).toEqual(new Map(slice.map((id) => [id, values.get(id)])));
  }
}

async function slowDown(ms: number): Promise<void> {
  const { db } = setup.current;
  await sql`create or replace function wait_a_moment() returns trigger language plpgsql as
    $$ begin perform pg_sleep(${sql.lit(ms / 1000)}); return null; end $$`.execute(db);
  await sql`create or replace trigger slow after update on tokens for each statement execute function wait_a_moment()`.execute(
    db,
  );
}

test('a rotation that is killed in the middle leaves everything readable, and the same command finishes it', async () => {
  const { actor, values } = await createTenant();
  const { tenantId } = actor;
  await slowDown(300);
  const first = run(['rotate-data', '--tenant', tenantId]);
  await someRotated(first, actor);
  first.child.kill('SIGKILL');
  await first.exit;
  expect(await rowsUnder(actor, 1)).toBeGreaterThan(0);
  await expectAllReadable(actor, values);
  await slowDown(0);
  const { code, stdout } = await finish(run(['rotate-data', '--tenant', tenantId]));
  expect(stdout).toMatch(
    /^Some rows are still encrypted with older versions of data keys\. This command encrypts the rows with token_data 2 of 20/,
  );
  expect(stdout).toMatch(/waiting \d+ s for requests that began before/);
  expect(stdout).toMatch(
    /tokens \(token_data\): [\d,]+ rows encrypted with the newest version, 0 rows still use older versions/,
  );
  expect(code).toBe(0);
  expect([await rowsUnder(actor, 1), await rowsUnder(actor, 2)]).toEqual([0, count]);
  await expectAllReadable(actor, values);

  const status = await finish(run(['status', '--tenant', tenantId, '--json']));
  expect(status.code).toBe(0);
  expect(JSON.parse(status.stdout)).toMatchObject({
    tenant_id: tenantId,
    data_keys: [
      { purpose: 'fingerprint', version: 1, ciphertexts: null },
      { purpose: 'token_data', version: 2, ciphertexts: count },
      { purpose: 'token_data', version: 1, ciphertexts: 0 },
    ],
  });
  const text = (await finish(run(['status', '--tenant', tenantId]))).stdout.split('\n');
  expect(text[0]).toMatch(/^purpose +version +made +uses +ciphertexts +root key$/);
  expect(text[2]).toMatch(/^token_data +2 +20\S+ +[\d,]+ +2,000 +local:[0-9a-f]{16}$/);
});

test('Ctrl-C ends it after the batch under way with 130, also where npm passes it on; a program gets one line of JSON', async () => {
  const { actor, values } = await createTenant();
  await slowDown(300);
  const first = run(['rotate-data', '--tenant', actor.tenantId, '--purpose', 'token_data', '--json']);
  await someRotated(first, actor);
  first.child.kill('SIGINT');
  await delay(20);
  first.child.kill('SIGINT');
  const stopped = await finish(first);
  expect(stopped).toMatchObject({ code: 130, stdout: '' });
  expect(stopped.stderr).toContain('Stopping after the batch under way\n');
  expect(stopped.stderr).toContain('To continue, run the same command again');
  const left = await rowsUnder(actor, 1);
  expect(left).toBeGreaterThan(0);
  expect(left % 500).toBe(0);
  await slowDown(0);
  const { code, stdout } = await finish(run(['rotate-data', '--tenant', actor.tenantId, '--json']));
  expect(stdout.split('\n')).toHaveLength(2);
  expect(JSON.parse(stdout)).toEqual({
    tenant_id: actor.tenantId,
    resumed: true,
    versions: { token_data: 2 },
    rotated: [{ purpose: 'token_data', table: 'tokens', rows: left, left: 0, damagedRows: 0, damaged: [] }],
  });
  expect(code).toBe(0);
  await expectAllReadable(actor, values);
});

test('the root key is replaced with the previous one at hand, and after that the previous one is not needed', async () => {
  const { actor, values } = await createTenant();
  const next = rootKey();
  const both = { ROOT_KEY: next, ROOT_KEY_PREVIOUS: setup.current.ROOT_KEY };
  const [before, after] = [localKeyWrapper(setup.current.ROOT_KEY), localKeyWrapper(next)];

  const without = await finish(run(['rotate-root'], { ROOT_KEY: next }));
  expect(without.code).toBe(1);
  expect(without.stdout).toContain(`${await before.currentKeyId()}  `);
  expect(without.stdout).toContain('The root keys in the settings cannot unwrap these data keys');

  const data = await finish(run(['rotate-data', '--tenant', actor.tenantId], { ROOT_KEY: next }));
  expect(data).toMatchObject({ code: 1, stdout: '' });
  expect(data.stderr).toContain(
    'Data key token_data 1 does not unwrap: it was wrapped by a root key that the settings do',
  );
  expect(data.stderr).toContain(`It was wrapped by ${await before.currentKeyId()}. Give it in ROOT_KEY_PREVIOUS`);
  expect(data.stderr).not.toMatch(/delete/i);
  expect(await rowsUnder(actor, 1)).toBe(count);

  const status = await finish(run(['status'], both));
  expect(status.stdout).toContain(`Current root key  ${await after.currentKeyId()}`);
  expect(status.stdout).toMatch(/\n[1-9]\d* data keys are not under the current root key/);

  const rotated = await finish(run(['rotate-root', '--json'], both));
  expect(JSON.parse(rotated.stdout)).toMatchObject({ root_key_id: await after.currentKeyId(), left: [], damaged: [] });
  expect(rotated).toMatchObject({ code: 0, stderr: '' });
  await expectAllReadable(actor, values, next);

  const again = await finish(run(['rotate-root'], { ROOT_KEY: next }));
  expect(again).toMatchObject({ code: 0 });
  const current = await after.currentKeyId();
  expect(again.stdout).toBe(`0 data keys wrapped with ${current}, 0 still wrapped with another root key\n`);
  expect((await finish(run(['status', '--json'], { ROOT_KEY: next }))).stdout).toContain('"under_others":0');
});

test('wrong arguments are 2 with the usage, a wrong configuration 78, both without a secret; an unknown Tenant is 1', async () => {
  const usage = await finish(run(['rotate-data', '--tenant', randomUUID(), '--purpose', 'fingerprint']));
  expect(usage).toMatchObject({ code: 2, stdout: '' });
  expect(usage.stderr).toMatch(/fingerprints of equal values would differ[\s\S]*Usage: npm run keys/);
  const transit = { KEY_PROVIDER: 'vault-transit', ROOT_KEY: '', VAULT_TOKEN: 'hvs.pw-4711', REDIS_URL: 'pw-0815' };
  const config = await finish(run(['status'], transit));
  expect(config).toMatchObject({ code: 78, stdout: '' });
  for (const name of ['VAULT_ADDR', 'VAULT_TRANSIT_KEY', 'REDIS_URL']) expect(config.stderr).toContain(`  ${name}: `);
  expect(config.stderr).not.toMatch(/pw-4711|pw-0815|ROOT_KEY:/);
  const tenantId = randomUUID();
  const unknown = await finish(run(['rotate-data', '--tenant', tenantId]));
  expect(unknown).toMatchObject({ code: 1, stdout: '' });
  expect(unknown.stderr).toContain(`There is no Tenant ${tenantId}`);
  const away = await finish(run(['status'], { DATABASE_URL: 'postgres://nobody:pw-4711@127.0.0.1:1/none' }));
  expect(away.code).toBe(1);
  expect(away.stderr).not.toContain('pw-4711');
});
