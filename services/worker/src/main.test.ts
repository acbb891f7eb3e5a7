import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '@sluice/service-runtime/free-port';
import {
  eventually,
  openTestDatabase,
  programEnvironment,
  startTransactionPooler,
  testRedisUrl,
  useChildren,
  useStack,
} from '@sluice/testing';

const database = useStack((stack) => openTestDatabase(stack));
const own = useChildren();
const main = fileURLToPath(new URL('main.ts', import.meta.url));

function run(env: Record<string, string>) {
  const settings = { ...programEnvironment(), ADMIN_HOST: '127.0.0.1', ADMIN_PORT: '0', ...env };
  const child = own(spawn(process.execPath, [main], { env: settings }));
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output.text += text;
    });
  }
  return { child, output, exit: once(child, 'close').then(([code]) => code as number | null) };
}

test.each([
  ['with its stores', () => ({ DATABASE_URL: database.current.url, REDIS_URL: testRedisUrl() })],
  ['without any', () => ({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', REDIS_URL: 'redis://127.0.0.1:1' })],
])('starts %s, and exits with 0 after SIGTERM', async (_name, stores) => {
  const { child, output, exit } = run(stores());
  await eventually('started', () => output.text.includes('worker started'));
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
});

test('needs neither the root key nor the pepper, and exits with 78 without its stores', async () => {
  const { output, exit } = run({});
  expect(await exit).toBe(78);
  expect(output.text.match(/^ {2}\w+/gm)).toEqual(['  DATABASE_URL', '  REDIS_URL']);
});

test('a witness whose URL has a password is refused at the start, and the password is not printed', async () => {
  const stores = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', REDIS_URL: 'redis://127.0.0.1:1' };
  const { output, exit } = run({ ...stores, LEDGER_WITNESS_URL: 'https://worker:hunter2@witness.test/checkpoints' });
  expect(await exit).toBe(78);
  expect(output.text).toContain('LEDGER_WITNESS_URL: must match pattern');
  expect(output.text).not.toContain('hunter2');
});

test.each([
  ['is ready', true, { ready: true, missing: {} }],
  [
    'is not ready, and says why',
    false,
    { ready: false, missing: { postgres: expect.stringContaining('PgBouncer 1.21') } },
  ],
])('behind a pooler it %s', async (_name, keepsStatements, answer) => {
  await using stack = new AsyncDisposableStack();
  const options = { keepsStatements, order: 'newest' } as const;
  const DATABASE_URL = await startTransactionPooler(database.current.url, options, stack);
  const port = await freePort();
  const { child, output, exit } = run({ DATABASE_URL, REDIS_URL: testRedisUrl(), ADMIN_PORT: String(port) });
  await eventually('started', () => output.text.includes('worker started'));
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  expect([response.status, await response.json()]).toEqual([answer.ready ? 200 : 503, answer]);
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
});
