import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { useStack } from '@sluice/testing';
import { openCommandLine } from './open-command-line.ts';

const world = useStack(openCommandLine);

const applications = [
  {
    name: 'applied backend',
    type: 'private',
    permissions: ['token:use'],
    rules: [{ priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read', 'token:use'] }],
  },
];

/** Proxies of the file: this one goes elsewhere. */
const proxies = (count: number, changed?: { index: number; destination_url: string }) =>
  Array.from({ length: count }, (_, index) => ({
    name: `applied ${index}`,
    destination_url: `${world.current.destination.url}/${index}`,
    configuration: { SECRET: { $env: 'PROCESSOR_SECRET' } },
    request_transform: { code: { $file: 'code/request.js' } },
    application: { name: 'applied backend' },
    ...(index === changed?.index && { destination_url: changed.destination_url, require_auth: false }),
  }));

test('reactors and their formula are created, kept, pulled and pruned', async () => {
  const { platform, json, sluice, write } = world.current;
  const env = { BIN_KEY: 'sk_live_0' };
  const options = ['-f', 'reactors.json', '--env', 'BIN_KEY'];
  const lists = {
    reactor_formulas: [
      {
        name: 'applied formula',
        code: { $file: 'code/bin.js' },
        configuration: [
          { name: 'KEY', type: 'string' },
          { name: 'RETRIES', type: 'number' },
        ],
        request_parameters: [{ name: 'number', type: 'string' }],
      },
    ],
    reactors: [
      {
        name: 'applied bin',
        formula: { name: 'applied formula' },
        configuration: { KEY: { $env: 'BIN_KEY' }, RETRIES: '3' },
      },
      { name: 'applied own', code: { $file: 'code/bin.js' }, configuration: { LIVE: true }, retryable: true },
    ],
  };
  await write('code/bin.js', 'module.exports = async ({ args }) => ({ raw: args.number });');
  await write('reactors.json', lists);
  expect(countActions(await json(['apply', ...options, '--yes'], { env }))).toEqual({ create: 3 });
  const list = async () => (await platform.manage('GET', '/reactors?name=applied')).body.data;
  expect(await list()).toMatchObject([
    { name: 'applied own', configuration: { LIVE: true }, retryable: true },
    { name: 'applied bin', formula_id: expect.any(String), configuration: { KEY: 'sk_live_0', RETRIES: 3 } },
  ]);
  expect(countActions(await json(['diff', ...options], { env }))).toEqual({ keep: 3 });
  expect((await sluice(['pull', '-f', 'pulled.yaml'])).code).toBe(0);
  const pulled = { APPLIED_BIN_KEY: 'sk_live_0', APPLIED_BIN_RETRIES: '3', APPLIED_OWN_LIVE: 'true' };
  const allowed = Object.keys(pulled).flatMap((name) => ['--env', name]);
  const { plan } = await json(['diff', '-f', 'pulled.yaml', ...allowed], { env: pulled });
  expect(plan.filter(({ name }: { name: string }) => name.startsWith('applied')).map(actionOf)).toEqual(
    Array(3).fill('keep'),
  );
  await write('reactors.json', {});
  expect(countActions(await json(['apply', ...options, '--yes', '--prune'], { env }))).toEqual({ delete: 3 });
  expect(await list()).toEqual([]);
});

const actionOf = ({ action }: { action: string }) => action;

test('ten Proxies and their Application are created, kept, changed and pruned', async () => {
  const { home, platform, destination, sluice, json, write } = world.current;
  let env = { PROCESSOR_SECRET: 'sk_live_0' };
  const options = ['-f', 'platform.json', '--env', 'PROCESSOR_SECRET'];
  const diff = () => json(['diff', ...options], { env });
  const apply = (...more: string[]) => json(['apply', ...options, '--yes', ...more], { env });
  const list = async () => (await platform.manage('GET', '/proxies?name=applied&size=100')).body.data;
  await write('code/request.js', 'module.exports = async ({ args }) => ({ body: args.body });');
  await write('platform.json', { applications, proxies: proxies(10) });

  const shown = await diff();
  expect(shown).toMatchObject({ files: ['code/request.js'], variables: ['PROCESSOR_SECRET'] });
  expect(JSON.stringify(shown)).not.toContain('sk_live');
  const asked = await sluice(['apply', ...options], { env });
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  expect(await list()).toEqual([]);

  expect(countActions(await apply('--keys', 'keys.ndjson'))).toEqual({ create: 11 });
  const created = await list();
  expect(created).toHaveLength(10);
  expect(created[0]).toMatchObject({
    configuration: { SECRET: 'sk_live_0' },
    request_transform: { code: expect.stringContaining('args.body') },
  });
  const keys = join(home, 'keys.ndjson');
  expect(JSON.parse(await readFile(keys, 'utf8'))).toEqual({
    name: 'applied backend',
    id: created[0].application_id,
    key: expect.stringMatching(/^svc_local_prv_/),
  });
  expect((await stat(keys)).mode & 0o777).toBe(0o600);
  expect(countActions(await apply())).toEqual({ keep: 11 });

  const changed = { index: 3, destination_url: `${destination.url}/3/new` };
  await write('platform.json', { applications, proxies: proxies(10, changed) });
  expect(countActions(await diff())).toEqual({ keep: 10, update: 1 });
  env = { PROCESSOR_SECRET: 'sk_live_1' };
  const applied = await apply();
  expect(applied.plan.find(({ name }: { name: string }) => name === 'applied 3').changes).toEqual([
    'configuration.SECRET',
    expect.stringMatching(/^destination_url: ".*\/3" -> ".*\/3\/new"$/),
    'require_auth: true -> false',
  ]);
  expect(JSON.stringify(applied)).not.toContain('sk_live');
  expect(countActions(await diff())).toEqual({ keep: 11 });

  await platform.createProxy({ name: 'applied by hand', destination_url: destination.url });
  await write('platform.json', { applications, proxies: proxies(7, changed) });
  expect(countActions(await apply())).toEqual({ keep: 8, leave: 3 });
  expect(await list()).toHaveLength(11);
  expect(countActions(await apply('--prune'))).toEqual({ keep: 8, delete: 3 });
  const left = [...proxies(7).map(({ name }) => name), 'applied by hand'];
  expect((await list()).map(({ name }: { name: string }) => name).sort()).toEqual(left);
  expect(await readFile(join(home, 'platform.json.applied.json'), 'utf8')).not.toMatch(/sk_live|svc_/);
});

test('what exists under a name is changed, and never pruned: this file did not make it', async () => {
  const { platform, destination, json, write } = world.current;
  const { id } = await platform.createProxy({ name: 'taken over', destination_url: destination.url });
  const destination_url = `${destination.url}/x`;
  await write('over.yaml', { proxies: [{ name: 'taken over', destination_url }] });
  const { plan } = await json(['apply', '-f', 'over.yaml', '--yes']);
  expect(plan).toEqual([expect.objectContaining({ action: 'update', id })]);
  await write('over.yaml', 'proxies: []\n');
  expect((await json(['apply', '-f', 'over.yaml', '--yes', '--prune'])).plan).toEqual([]);
  expect((await platform.manage('GET', `/proxies/${id}`)).body.destination_url).toBe(destination_url);
});

test('a failure half-way leaves a record of what was made', async () => {
  const { destination, sluice, json, write } = world.current;
  const good = { name: 'half way', destination_url: destination.url };
  await write('half.yaml', { proxies: [good, { name: 'broken', destination_url: 'nonsense' }] });
  const failed = await sluice(['apply', '-f', 'half.yaml', '--yes']);
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('destination_url') });
  await write('half.yaml', {});
  const { plan } = await json(['apply', '-f', 'half.yaml', '--yes', '--prune']);
  expect(plan).toEqual([expect.objectContaining({ action: 'delete', name: 'half way' })]);
});

test('pull writes a file with references, which applies without a change', async () => {
  const { home, sluice, json } = world.current;
  const { code, stderr } = await sluice(['pull', '-f', 'pulled/all.yaml']);
  expect([code, stderr]).toEqual([0, expect.stringContaining('--env APPLIED_0_SECRET')]);
  const text = await readFile(join(home, 'pulled/all.yaml'), 'utf8');
  expect(text).not.toMatch(/sk_live|svc_/);
  expect(text).toContain('$env: APPLIED_0_SECRET');
  expect(await readFile(join(home, 'pulled/transforms/applied-0.request.js'), 'utf8')).toContain('args.body');
  const names = [...text.matchAll(/\$env: (\w+)/g)].map(([, name = '']) => name);
  const env = Object.fromEntries(names.map((name) => [name, 'sk_live_1']));
  const allowed = names.flatMap((name) => ['--env', name]);
  const { plan } = await json(['diff', '-f', 'pulled/all.yaml', ...allowed], { env });
  expect(plan.filter(({ action }: { action: string }) => action !== 'keep')).toEqual([]);
  const again = await sluice(['pull', '-f', 'pulled/all.yaml']);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('--force') });
});

function countActions({ plan }: { plan: { action: string }[] }): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { action } of plan) counts[action] = (counts[action] ?? 0) + 1;
  return counts;
}
