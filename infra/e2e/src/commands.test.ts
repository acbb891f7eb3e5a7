import { repositoryRoot } from '@sluice/local/parts';
import { openStoresFolder } from '@sluice/testing';
import { run, runProgram } from './run-program.ts';

test.each([
  'infra/local/src/demo/main.ts',
  'infra/bench/src/main.ts',
  'infra/configuration/src/main.ts',
  'infra/e2e/src/faults/main.ts',
  'infra/openapi/src/main.ts',
  'infra/e2e/model/main.ts',
  'packages/cli/src/main.ts',
  'packages/database/src/migrate.command.ts',
  'services/management-api/src/tenants/tenant.command.ts',
  'services/management-api/src/main.ts',
  'services/token-vault/src/main.ts',
  'services/proxy-gateway/src/main.ts',
  'services/worker/src/main.ts',
  'infra/ingress/src/main.ts',
])('%s answers --help', async (file) => {
  expect((await runProgram(file, ['--help'])).stdout.length).toBeGreaterThan(100);
});

test.each([
  'services/management-api/src/main.ts',
  'services/token-vault/src/main.ts',
  'services/proxy-gateway/src/main.ts',
  'services/worker/src/main.ts',
  'infra/ingress/src/main.ts',
])('%s under an older Node.js says what to run', async (file) => {
  const older = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "22.18.0" } })';
  const args = ['--import', `data:text/javascript,${encodeURIComponent(older)}`, file, '--help'];
  const failure = await run(process.execPath, args, { cwd: repositoryRoot }).catch((error) => error);
  expect([failure.code, failure.stdout]).toEqual([1, '']);
  expect(failure.stderr).toMatch(/^Sluice needs Node\.js \d+ or later; this is 22\.18\.0\. Run npx node /);
  expect(failure.stderr).toContain(`npx node ${file} `);
});

test.each([
  'infra/local/src/demo/main.ts',
  'infra/pack/src/main.ts',
  'infra/transform/src/main.ts',
  'infra/bench/src/main.ts',
  'infra/configuration/src/main.ts',
  'infra/monitoring/src/main.ts',
  'infra/openapi/src/main.ts',
  'infra/e2e/src/faults/main.ts',
  'infra/e2e/model/main.ts',
  'packages/database/src/migrate.command.ts',
  'services/management-api/src/tenants/tenant.command.ts',
  'services/management-api/src/logs/ledger.command.ts',
  'services/token-vault/src/keys/keys.command.ts',
])('%s names an option that it does not know, points to its help, and leaves with 2', async (file) => {
  const failure = await runProgram(file, ['--nonsense']).catch((error) => error);
  expect([failure.code, failure.stdout]).toEqual([2, '']);
  expect(failure.stderr).toMatch(/^(Unknown option '--nonsense'|There is no option --nonsense)(;|\n)/);
  expect(failure.stderr).toMatch(/--help|Usage: /);
  expect(failure.stderr).not.toMatch(/^ +at /m);
});

test('the demo of an agent shows that it never had the credential, and that its session has ended', async () => {
  await using stack = new AsyncDisposableStack();
  const env = { PATH: process.env.PATH, SLUICE_DIR: await openStoresFolder(stack, 'demo-agent') };
  const { stdout, stderr } = await runProgram('infra/local/src/demo/main.ts', ['agent'], { env });
  const [before = '', after = ''] = stdout.split('What the log says');
  expect(before).toContain('MODEL_API_KEY=svc_');
  expect(before.match(/Bearer sk-demo-8c1f0a5be2/g)).toHaveLength(1); // at the destination alone
  expect(before).toContain('"authorization": "Bearer [redacted]"');
  expect(after).toMatch(/guard found a value/);
  expect(after).toContain('the same call got 401');
  expect(stderr).toBe('');
});

test('the demo, with nothing running, shows the three sides of the main job and leaves with 0', async () => {
  await using stack = new AsyncDisposableStack();
  const env = { PATH: process.env.PATH, SLUICE_DIR: await openStoresFolder(stack, 'demo') };
  const { stdout, stderr } = await runProgram('infra/local/src/demo/main.ts', [], { env });
  expect(stdout).toContain('What the caller sent');
  expect(stdout).toContain('What the destination received');
  expect(stdout).toContain('"number": "4242424242424242"');
  expect(stdout).toContain('Status 201');
  expect(stdout).not.toContain('\x1b[');
  expect(stderr).toBe('');
});
