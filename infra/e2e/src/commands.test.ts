import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

jest.setTimeout(60_000);

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');

test.each([
  'infra/local/src/main.ts',
  'infra/local/src/demo/main.ts',
  'infra/bench/src/main.ts',
  'infra/configuration/src/main.ts',
  'infra/e2e/src/chaos/main.ts',
  'infra/e2e/src/faults/main.ts',
  'infra/openapi/src/main.ts',
  'infra/transform/src/main.ts',
  'packages/cli/src/main.ts',
  'packages/database/src/migrate.command.ts',
  'services/management-api/src/tenants/tenant.command.ts',
  'services/management-api/src/main.ts',
  'services/token-vault/src/main.ts',
  'services/proxy-gateway/src/main.ts',
  'services/worker/src/main.ts',
  'infra/ingress/src/main.ts',
])('%s answers --help', async (file) => {
  const { stdout } = await run(process.execPath, [resolve(root, file), '--help'], { env: {} });
  expect(stdout.length).toBeGreaterThan(100);
});

test('the demo, with nothing running, shows the three sides of the main job and leaves with 0', async () => {
  const directory = await mkdtemp(resolve(tmpdir(), 'sluice-demo-'));
  try {
    const env = { PATH: process.env.PATH, SLUICE_DIR: directory };
    const { stdout, stderr } = await run(process.execPath, [resolve(root, 'infra/local/src/demo/main.ts')], { env });
    expect(stdout).toContain('What the caller sent');
    expect(stdout).toContain('What the destination received');
    expect(stdout).toContain('"number": "4242424242424242"');
    expect(stdout).toContain('Status 201');
    expect(stdout).not.toContain('\x1b[');
    expect(stderr).toBe('');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
