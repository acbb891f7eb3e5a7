import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { generateApiKey } from '@sluice/credentials';
import {
  call,
  eventually,
  openTestDatabase,
  programEnvironment,
  randomSecrets,
  testRedisUrl,
  useChildren,
  useStack,
} from '@sluice/testing';

const secrets = randomSecrets();
const database = useStack((stack) => openTestDatabase(stack));

interface Program {
  child: ChildProcessWithoutNullStreams;
  output: { stdout: string; stderr: string };
  exit: Promise<number | null>;
}

const own = useChildren();

function run(program: string, env: Record<string, string>, args: string[] = []): Program {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = own(spawn(process.execPath, [path, ...args], { env: { ...programEnvironment(), ...env } }));
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  return { child, output, exit: once(child, 'close').then(([code]) => code) };
}

const settings = () => ({
  ...secrets,
  DATABASE_URL: database.current.url,
  REDIS_URL: testRedisUrl(),
  HOST: '127.0.0.1',
  ADMIN_HOST: '127.0.0.1',
  PORT: '0',
  ADMIN_PORT: '0',
  SHUTDOWN_DRAIN_MS: '0',
});

async function portsOf({ output }: Program): Promise<{ url: string; lines: string[] }> {
  await eventually('started', () => output.stdout.includes('management-api started'));
  const lines = output.stdout.split('\n').filter((line) => line !== '');
  const started = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'management-api started');
  return { url: `http://127.0.0.1:${started.port}`, lines };
}

describe('the service', () => {
  test('serves, and exits with 0 after SIGTERM', async () => {
    const service = run('main.ts', settings());
    const { url } = await portsOf(service);
    expect((await call(url, 'GET', '/permissions')).status).toBe(401);
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    expect(service.output.stdout).toContain('"msg":"stopped"');
  });

  test('answers 503 with Retry-After while Postgres is away, and starts and stops without any store', async () => {
    const away = {
      DATABASE_URL: 'postgres://nobody:pw-4711@127.0.0.1:1/none',
      REDIS_URL: 'redis://:pw-0815@127.0.0.1:1',
    };
    const service = run('main.ts', { ...settings(), ...away });
    const { url } = await portsOf(service);
    const answer = await call(url, 'GET', '/permissions', { key: generateApiKey('test', 'private') });
    expect(answer).toMatchObject({ status: 503, body: { title: 'Service unavailable', status: 503 } });
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(JSON.stringify(answer.body)).not.toContain('127.0.0.1');
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    expect(service.output.stdout).toContain('ECONNREFUSED');
    expect(service.output.stdout).not.toMatch(/pw-4711|pw-0815/);
  });

  test('a configuration that is not usable exits with 78, every fault at once, no secret', async () => {
    const wrong = {
      KEY_PEPPER: 'short-pepper',
      REDIS_URL: 'http://pw-4711@x',
      PORT: '-1',
      ROOT_KEY: '',
      LOG_LEVEL: 'all',
    };
    const service = run('main.ts', { ...settings(), ...wrong });
    expect(await service.exit).toBe(78);
    for (const name of Object.keys(wrong)) expect(service.output.stderr).toContain(`  ${name}: `);
    expect(service.output.stderr).not.toMatch(/short-pepper|pw-4711/);
  });

  test('--help tells every setting', async () => {
    const service = run('main.ts', {}, ['--help']);
    expect(await service.exit).toBe(0);
    for (const name of ['DATABASE_URL', 'KEY_PEPPER', 'HEADER_PREFIX', 'DESTINATION_ALLOW', 'PORT']) {
      expect(service.output.stdout).toContain(name);
    }
  });
});

describe('the tenant command', () => {
  const tenantCommand = async (...args: string[]) => {
    const { output, exit } = run('tenants/tenant.command.ts', settings(), args);
    return { code: await exit, ...output };
  };
  const create = (...args: string[]) => tenantCommand('create', ...args);

  test('makes one more full key for a Tenant, with a row in its log, and leaves the first as it is', async () => {
    const service = run('main.ts', settings());
    const { url } = await portsOf(service);
    const first = JSON.parse((await create('--name', 'Lost', '--json')).stdout);
    const { code, stdout } = await tenantCommand('key', '--tenant', first.tenant_id, '--json');
    expect(code).toBe(0);
    const second = JSON.parse(stdout);
    expect(second).toMatchObject({
      tenant_id: first.tenant_id,
      management_key: expect.stringMatching(/^svc_live_mgt_/),
    });
    expect(second.application_id).not.toBe(first.application_id);
    const applications = await Promise.all(
      [first, second].map(({ management_key: key }) => call(url, 'GET', '/applications/key', { key })),
    );
    expect(applications.map(({ status }) => status)).toEqual([200, 200]);
    expect(applications[1]?.body.permissions).toEqual(applications[0]?.body.permissions);
    const rows = await database.current.db
      .selectFrom('audit_log')
      .select(['actor_type', 'operation', 'entity_type', 'entity_id'])
      .where('entity_id', '=', second.application_id)
      .execute();
    expect(rows).toEqual([
      { actor_type: 'system', operation: 'create', entity_type: 'application', entity_id: second.application_id },
    ]);
    expect((await call(url, 'DELETE', '/tenants/self', { key: second.management_key })).status).toBe(204);
    expect((await tenantCommand('key', '--tenant', first.tenant_id)).code).toBe(1);
    service.child.kill('SIGTERM');
    await service.exit;
  });

  test.each([
    [2, ['key']],
    [2, ['key', '--tenant', 'me']],
    [1, ['key', '--tenant', '0b8a1f1e-0000-4000-8000-000000000001']],
    [2, ['key', '--tenant', '0b8a1f1e-0000-4000-8000-000000000001', '--name', 'T']],
    [2, ['create', '--name', 'T', '--tenant', '0b8a1f1e-0000-4000-8000-000000000001']],
    [2, ['key', '--tenant', '0b8a1f1e-0000-4000-8000-000000000001', 'more']],
    [2, ['nothing']],
  ])('makes no key, exits with %i and says why: %j', async (expected, args) => {
    const { code, stdout, stderr } = await tenantCommand(...args);
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
    expect(stderr.length).toBeGreaterThan(10);
  });

  test('leaves with 78 where the configuration is not usable, as a service does', async () => {
    const { exit, output } = run('tenants/tenant.command.ts', { ...settings(), KEY_PEPPER: '' }, [
      'create',
      '--name',
      'T',
    ]);
    expect([await exit, output.stderr]).toEqual([78, expect.stringContaining('KEY_PEPPER: is required')]);
  });

  test('creates a Tenant and prints its first management key once, which may do everything', async () => {
    const service = run('main.ts', settings());
    const { url } = await portsOf(service);
    const { code, stdout, stderr } = await create('--name', 'Acmé 😀', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const created = JSON.parse(stdout);
    const key = created.management_key;
    expect(await call(url, 'GET', '/tenants/self', { key })).toMatchObject({
      status: 200,
      body: { id: created.tenant_id, owner_id: created.owner_id, name: 'Acmé 😀' },
    });
    const self = (await call(url, 'GET', '/applications/key', { key })).body;
    expect(self).toMatchObject({ id: created.application_id, type: 'management' });
    expect(self.permissions).toHaveLength(24);
    service.child.kill('SIGTERM');
    await service.exit;
  });

  test('takes an owner, and prints for people without --json', async () => {
    const owner = '0b8a1f1e-0000-4000-8000-000000000001';
    const { code, stdout } = await create('--name', 'T', '--owner', owner);
    expect(code).toBe(0);
    expect(stdout).toContain(owner);
    expect(stdout).toMatch(/svc_live_mgt_[0-9A-Za-z]{49}/);
  });

  test.each([
    [[]],
    [['--name', '']],
    [['--name', 'x'.repeat(201)]],
    [['--name', 'T', '--owner', 'me']],
    [['--name', 'T', '--unknown']],
    [['--name', 'Acme', 'Corp']],
  ])('%j exits with 2 and says why', async (args) => {
    const { code, stdout, stderr } = await create(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.length).toBeGreaterThan(10);
  });
});
