import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { keys, startService } from './testing/test-command-line.ts';

const main = resolve(import.meta.dirname, 'main.ts');

/** An apply that gets two Ctrl-C while the service creates an Application. */
async function interruptTwice(closing: AsyncDisposableStack, apartMs: number) {
  const pagination = { total_items: 0, page_number: 1, page_size: 100, total_pages: 1 };
  const service = await startService(closing, ({ method, url }, _request, response) => {
    if (url === '/applications/key') return { status: 200, body: { id: 'caller', tenant_id: 'tenant' } };
    if (method === 'GET') return { status: 200, body: { pagination, data: [] } };
    void pressTwice().then(() => response.end('{"id":"made","key":"k"}'));
    return undefined;
  });
  const home = await mkdtemp(join(tmpdir(), 'sluice-home-'));
  closing.defer(() => rm(home, { recursive: true, force: true }));
  await writeFile(
    join(home, 'platform.yaml'),
    'applications: [{ name: a, type: private, permissions: [token:use] }, { name: b, type: private, permissions: [token:use] }]',
  );
  const env = { PATH: process.env.PATH, SLUICE_URL: service.url, SLUICE_API_KEY: keys.management };
  const child = spawn(process.execPath, [main, 'apply', '-f', 'platform.yaml', '--yes', '--keys', 'keys'], {
    cwd: home,
    env,
    stdio: 'ignore',
    timeout: 120_000,
  });
  const pressTwice = async () => {
    child.kill('SIGINT');
    await delay(apartMs);
    child.kill('SIGINT');
    await delay(100);
  };
  const left = await once(child, 'close');
  return { left, key: await readFile(join(home, 'keys'), 'utf8') };
}

test('Ctrl-C that arrives twice, because npm passes it on, lets the step under way finish and leaves with 130', async () => {
  await using closing = new AsyncDisposableStack();
  const { left, key } = await interruptTwice(closing, 20);
  expect([left, JSON.parse(key)]).toEqual([[130, null], { name: 'a', id: 'made', key: 'k' }]);
});

test('a second Ctrl-C ends the process at once', async () => {
  await using closing = new AsyncDisposableStack();
  expect((await interruptTwice(closing, 800)).left).toEqual([null, 'SIGINT']);
});
