import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { readConfig } from '@sluice/service-runtime';
import {
  eventually,
  openTestDatabase,
  programEnvironment,
  randomSecrets,
  startTestService,
  startTransactionPooler,
  useChildren,
  useStack,
} from '@sluice/testing';
import { configSchema } from './config.ts';
import { start } from './service.ts';

const database = useStack((stack) => openTestDatabase(stack));
const own = useChildren();
const main = fileURLToPath(new URL('main.ts', import.meta.url));
const away = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', REDIS_URL: 'redis://127.0.0.1:1' };

test('starts without any store, and exits with 0 after SIGTERM', async () => {
  const env = { ...programEnvironment(), ADMIN_HOST: '127.0.0.1', ADMIN_PORT: '0', ...away };
  const child = own(spawn(process.execPath, [main], { env }));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const exit = once(child, 'close');
  await eventually('started', () => output.includes('worker started'));
  child.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
});

test('needs its stores, and neither the root key nor the pepper', () => {
  const message = messageOf({});
  expect(message.match(/^ {2}\w+/gm)).toEqual(['  DATABASE_URL', '  REDIS_URL']);
});

test('a witness whose URL has a password is refused, and the password is not printed', () => {
  const message = messageOf({ ...away, LEDGER_WITNESS_URL: 'https://worker:hunter2@witness.test/checkpoints' });
  expect(message).toContain('LEDGER_WITNESS_URL: must match pattern');
  expect(message).not.toContain('hunter2');
});

function messageOf(env: Record<string, string>): string {
  try {
    readConfig(configSchema, env);
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  throw new Error('the configuration is usable');
}

test.each([
  ['is ready', true, {}],
  ['is not ready, and says why', false, { postgres: expect.stringContaining('PgBouncer 1.21') }],
])('behind a pooler it %s', async (_name, keepsStatements, missing) => {
  await using stack = new AsyncDisposableStack();
  const options = { keepsStatements, order: 'newest' } as const;
  const databaseUrl = await startTransactionPooler(database.current.url, options, stack);
  const { readiness } = await startTestService(
    { configSchema, start },
    { databaseUrl, secrets: randomSecrets(), stack },
  );
  expect(await readiness.missing()).toEqual(missing);
});
