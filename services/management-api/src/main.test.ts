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
