import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startDestination, useStack } from '@sluice/testing';
import { startPlatform } from '../platform.ts';
import { mainFile, type RunOptions, runSluice } from './run-sluice.ts';

jest.setTimeout(120_000);

const world = useStack(async (closing) => {
  const platform = await startPlatform(closing);
  const destination = await startDestination(closing);
  const home = await mkdtemp(join(tmpdir(), 'sluice-home-'));
  closing.defer(() => rm(home, { recursive: true, force: true }));
  const backend = await platform.createApplication({
    name: 'cli backend',
    permissions: ['token:create', 'token:read', 'token:use', 'token:delete'],
  });
  const env = { XDG_CONFIG_HOME: join(home, 'config') };
  const { baseUrl, credentials } = platform.stack;
  const login = await runSluice(['login', '--url', `${baseUrl}/`], {
    env,
    stdin: `${credentials.management_key}\n${backend.key}\n`,
  });
  return { platform, destination, home, env, login, backend };
});

/** Runs it with the profile. */
const sluice = (typed: string[], options: RunOptions = {}) =>
  runSluice(typed, { cwd: world.current.home, ...options, env: { ...world.current.env, ...options.env } });

const json = async (typed: string[], options: RunOptions = {}) => {
  const { code, stdout, stderr } = await sluice(typed, options);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  return JSON.parse(stdout);
};

test('login stores keys in a file that only its owner reads, and shows none', async () => {
  const { login, env, platform } = world.current;
  const file = join(env.XDG_CONFIG_HOME, 'sluice/profiles.json');
  expect(login).toEqual({
    code: 0,
    stdout: '',
    stderr: `Stored management and private key in the profile default (${file})\n`,
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, 'utf8')).toContain(platform.stack.credentials.management_key);
  const profiles = await sluice(['profiles']);
  expect(JSON.parse(profiles.stdout)).toEqual([
    { name: 'default', url: platform.stack.baseUrl, header_prefix: 'SVC', keys: ['management', 'private'] },
  ]);
});

test('a key that the service refuses, or that is none, is not stored', async () => {
  const { platform } = world.current;
  const key = platform.stack.credentials.management_key;
  const changed = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
  const env = { XDG_CONFIG_HOME: join(world.current.home, 'other') };
  const typed = ['login', '--url', platform.stack.baseUrl];
  const refused = await runSluice(typed, { env, stdin: changed });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('status 401') });
  const nonsense = await runSluice(typed, { env, stdin: '4242424242424242' });
  expect(nonsense).toMatchObject({ code: 2, stderr: 'Line 1 is not an API key of an Application\n' });
  const none = await runSluice(typed, { env, stdin: '' });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no key') });
  expect(`${refused.stderr}${nonsense.stderr}`).not.toMatch(/4242|svc_/);
  expect(await runSluice(['profiles'], { env })).toMatchObject({ stdout: '[]\n' });
});

test('a file of profiles that others may read is refused', async () => {
  const { chmod } = await import('node:fs/promises');
  const file = join(world.current.env.XDG_CONFIG_HOME, 'sluice/profiles.json');
  await chmod(file, 0o640);
  const { code, stderr } = await sluice(['proxies', 'list']);
  await chmod(file, 0o600);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`chmod 600 ${file}`)]);
});

test("a profile's keys go to its own URL only", async () => {
  const { code, stderr } = await sluice(['proxies', 'list'], { env: { SLUICE_URL: 'https://elsewhere.example.com' } });
  expect([code, stderr]).toEqual([2, expect.stringContaining('whose keys go nowhere else')]);
});

test.each([
  'http://sluice.example.com',
  'http://10.0.0.1:8080',
  'ftp://localhost',
  'https://a:b@localhost',
  'nonsense',
])('a key is not sent to %s', async (SLUICE_URL) => {
  const { code, stderr } = await runSluice(['proxies', 'list'], { env: { SLUICE_URL, SLUICE_API_KEY: 'svc_secret' } });
  expect([code, stderr]).toEqual([2, expect.stringContaining('The URL must')]);
  expect(stderr).not.toMatch(/svc_|a:b/);
});

test('each command takes the key that can do it: a token, created, read, and deleted', async () => {
  const body = { type: 'card', data: { number: '4242424242424242' } };
  const token = await json(['tokens', 'create', '--data', JSON.stringify(body)]);
  expect(token).toMatchObject({ type: 'card' });
  expect(await json(['tokens', 'get', token.id])).toMatchObject({ id: token.id, data: { number: 'XXXXXXXXXXXX4242' } });
  expect((await json(['tokens', 'list', '--id', token.id])).data).toHaveLength(1);
  expect(await sluice(['tokens', 'delete', token.id])).toEqual({ code: 0, stdout: '', stderr: '' });
  const gone = await sluice(['tokens', 'get', token.id]);
  expect(gone).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('status 404') });
});

test('a body comes from the command, a file or standard input', async () => {
  const file = join(world.current.home, 'token.json');
  await writeFile(file, '{"data":"of a file"}');
  for (const [data, stdin] of [
    ['{"data":"x"}', ''],
    [`@${file}`, ''],
    ['-', '{"data":"of standard input"}'],
  ] as const) {
    expect(await json(['tokens', 'create', '-d', data], { stdin })).toMatchObject({ type: 'token' });
  }
  const wrong = await sluice(['tokens', 'create', '-d', '{"data": 4242424242424242x']);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--data is not valid JSON') });
  expect(wrong.stderr).not.toContain('4242');
});

test('keys of an Application: create, list, delete', async () => {
  const { backend } = world.current;
  const key = await json(['keys', 'create', backend.id]);
  expect(key.key).toMatch(/^svc_local_prv_/);
  expect(await json(['keys', 'list', backend.id])).toHaveLength(2);
  expect((await sluice(['keys', 'delete', backend.id, key.id])).code).toBe(0);
  expect(await json(['keys', 'list', backend.id])).toHaveLength(1);
});

test('a list with --all is one item a line, over all pages', async () => {
  for (let index = 0; index < 3; index++) {
    await json([
      'applications',
      'create',
      '-d',
      JSON.stringify({ name: `many ${index}`, type: 'public', permissions: ['token:create'] }),
    ]);
  }
  const { stdout } = await sluice(['applications', 'list', '--all', '--size', '2']);
  const names = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).name);
  expect(names).toEqual(expect.arrayContaining(['many 0', 'many 1', 'many 2', 'cli backend']));
  expect(new Set(names).size).toBe(names.length);
  expect((await json(['applications', 'list', '--size', '2'])).data).toHaveLength(2);
});

test('what the service refuses is told with where and what to do, and leaves with 1', async () => {
  const { code, stderr } = await sluice(['applications', 'create', '-d', '{"name":"x","type":"robot"}']);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/type must be one of private, public, management.*status 400, trace /),
  ]);
  const { env } = {
    env: { SLUICE_URL: world.current.platform.stack.baseUrl, SLUICE_API_KEY: world.current.backend.key },
  };
  const forbidden = await runSluice(['proxies', 'list'], { env });
  expect(forbidden).toMatchObject({ code: 1, stderr: expect.stringContaining('proxy:read') });
});

test('what does not answer leaves with 3', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  const env = { SLUICE_URL: `http://127.0.0.1:${port}`, SLUICE_API_KEY: 'svc_x' };
  const { code, stderr } = await runSluice(['proxies', 'list'], { env });
  expect([code, stderr]).toEqual([
    3,
    expect.stringContaining(`no answer (ECONNREFUSED) from http://127.0.0.1:${port}`),
  ]);
});

test.each([
  [[], 'Usage: sluice'],
  [['nonsense'], 'There is no command nonsense'],
  [['proxies', 'nonsense'], 'There are: create, list'],
  [['proxies', 'get'], 'ID is missing'],
  [['proxies', 'get', 'a', 'b'], 'too many arguments; the command takes ID'],
  [['proxies', 'list', '--nonsense'], 'The option --nonsense'],
  [['proxies', 'create'], 'needs --data'],
  [['tokens', 'list', '--metadata', 'x'], 'NAME=VALUE'],
  [['completion', 'tcsh'], 'bash, zsh or fish'],
  [['proxies', 'list', '--profile', 'nobody'], 'There is no profile nobody'],
  [['apply'], 'Give -f FILE'],
])('%j is a mistake of usage', async (typed, message) => {
  const { code, stdout, stderr } = await sluice(typed as string[]);
  expect([code, stdout + stderr]).toEqual([2, expect.stringContaining(message)]);
});

test('a key among the words is not repeated', async () => {
  const { stderr } = await sluice(['proxies', 'list', '--key=svc_local_mgt_secret', 'svc_local_mgt_secret']);
  expect(stderr).not.toContain('svc_local');
});

test('proxies invoke finds the Proxy by name, and leaves with 1 where the destination was not reached', async () => {
  const { platform, destination } = world.current;
  await platform.createProxy({ name: 'cli echo', destination_url: `${destination.url}/base` });
  const token = await json(['tokens', 'create', '-d', '{"data":"4111111111111111"}']);
  const typed = [
    'proxies',
    'invoke',
    'cli echo',
    '/charges?x=1',
    '-d',
    `{"card":"{{ ${token.id} }}"}`,
    '-H',
    'Authorization: theirs',
    '-i',
  ];
  const { code, stderr } = await sluice(typed);
  expect([code, stderr]).toEqual([0, expect.stringContaining('svc-proxy-destination-status: 200')]);
  expect(destination.seen.at(-1)).toEqual({
    path: '/base/charges?x=1',
    authorization: 'theirs',
    body: '{"card":"4111111111111111"}',
  });
  expect(await sluice(['proxies', 'invoke', 'nobody'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no Proxy named nobody'),
  });
  const unknown = await sluice(['proxies', 'invoke', '-', '-d', '{"a":"{{ nothing }}"}'], {
    env: { SLUICE_PROXY_KEY: 'A'.repeat(32) },
  });
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('did not reach the destination') });
});

test('proxies test runs the transform in the sandbox', async () => {
  const { home } = world.current;
  await writeFile(
    join(home, 'good.js'),
    'module.exports = async ({ args, configuration }) => { console.log("hello"); return { body: { ...args.body, ...configuration } }; };',
  );
  await writeFile(join(home, 'bad.js'), 'module.exports = async () => { throw new Error("no"); };');
  await writeFile(join(home, 'broken.js'), 'module.exports = async (');
  await writeFile(join(home, 'args.json'), '{"body":{"a":1}}');
  await writeFile(join(home, 'configuration.json'), '{"b":"2"}');
  const good = await json([
    'proxies',
    'test',
    'good.js',
    '--args',
    'args.json',
    '--configuration',
    'configuration.json',
  ]);
  expect(good).toMatchObject({ result: { body: { a: 1, b: '2' } }, console: [{ text: 'hello' }] });
  expect(await sluice(['proxies', 'test', 'bad.js'])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('Transform failed'),
  });
  expect(await sluice(['proxies', 'test', 'broken.js'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('line 1'),
  });
  expect(await sluice(['proxies', 'test', 'missing.js'])).toMatchObject({
    code: 2,
    stderr: 'missing.js cannot be read (ENOENT)\n',
  });
});

test('logs tail shows what is there and what comes, each row once, until Ctrl-C', async () => {
  const { platform, env } = world.current;
  const child = spawn(process.execPath, [mainFile, 'logs', 'tail', '--entity-type', 'proxy', '--last', '1'], { env });
  const rows: { id: string; entity_id: string; operation: string }[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => rows.push(JSON.parse(line)));
  await once(lines, 'line');
  const { id } = await platform.createProxy({ name: 'tailed', destination_url: world.current.destination.url });
  await platform.manage('DELETE', `/proxies/${id}`);
  const ofProxy = () => rows.filter(({ entity_id }) => entity_id === id).map(({ operation }) => operation);
  while (!ofProxy().includes('delete')) await once(lines, 'line');
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([130, null]);
  expect(ofProxy()).toEqual(['create', 'delete']);
  expect(new Set(rows.map((row) => row.id)).size).toBe(rows.length);
});

describe('apply', () => {
  const proxies = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      name: `applied ${index}`,
      destination_url: `${world.current.destination.url}/${index}`,
      configuration: { SECRET: { $env: 'PROCESSOR_SECRET' } },
      request_transform: { code: { $file: 'code/request.js' } },
      application: { name: 'applied backend' },
    }));
  const applications = [
    {
      name: 'applied backend',
      type: 'private',
      permissions: ['token:use'],
      rules: [{ priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read', 'token:use'] }],
    },
  ];
  const env = { PROCESSOR_SECRET: 'sk_live_0' };
  const file = 'platform.json';
  const write = (content: object) => writeFile(join(world.current.home, file), JSON.stringify(content));
  const typed = (...more: string[]) => ['-f', file, '--env', 'PROCESSOR_SECRET', ...more];
  const actions = async (command: string[], options: RunOptions = { env }) => {
    const { plan } = await json(command, options);
    const counts: Record<string, number> = {};
    for (const { action } of plan) counts[action] = (counts[action] ?? 0) + 1;
    return counts;
  };

  test('ten Proxies and their Application are created, kept, changed and pruned', async () => {
    const { home, platform } = world.current;
    const { mkdir } = await import('node:fs/promises');
    await mkdir(join(home, 'code'));
    await writeFile(join(home, 'code/request.js'), 'module.exports = async ({ args }) => ({ body: args.body });');
    await write({ applications, proxies: proxies(10) });

    const shown = await json(['diff', ...typed()], { env });
    expect(shown).toMatchObject({ files: ['code/request.js'], variables: ['PROCESSOR_SECRET'] });
    expect(JSON.stringify(shown)).not.toContain('sk_live');
    expect(await sluice(['apply', ...typed()], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes'),
    });
    expect((await platform.manage('GET', '/proxies?name=applied')).body.data).toEqual([]);

    expect(await actions(['apply', ...typed('--yes', '--keys', 'keys.ndjson')])).toEqual({ create: 11 });
    const { data } = (await platform.manage('GET', '/proxies?name=applied')).body;
    expect(data).toHaveLength(10);
    expect(data[0]).toMatchObject({
      configuration: { SECRET: 'sk_live_0' },
      request_transform: { code: expect.stringContaining('args.body') },
    });
    const key = JSON.parse(await readFile(join(home, 'keys.ndjson'), 'utf8'));
    expect(key).toEqual({
      name: 'applied backend',
      id: data[0].application_id,
      key: expect.stringMatching(/^svc_local_prv_/),
    });
    expect((await stat(join(home, 'keys.ndjson'))).mode & 0o777).toBe(0o600);

    expect(await actions(['apply', ...typed('--yes')])).toEqual({ keep: 11 });

    const changed = proxies(10).map((proxy, index) =>
      index === 3 ? { ...proxy, destination_url: `${proxy.destination_url}/new`, require_auth: false } : proxy,
    );
    await write({ applications, proxies: changed });
    expect(await actions(['diff', ...typed()], { env: { PROCESSOR_SECRET: 'sk_live_0' } })).toEqual({
      keep: 10,
      update: 1,
    });
    const plan = await json(['apply', ...typed('--yes')], { env: { PROCESSOR_SECRET: 'sk_live_1' } });
    expect(plan.plan.find(({ name }: { name: string }) => name === 'applied 3').changes).toEqual([
      'configuration.SECRET',
      expect.stringMatching(/^destination_url: ".*\/3" -> ".*\/3\/new"$/),
      'require_auth: true -> false',
    ]);
    expect(JSON.stringify(plan)).not.toContain('sk_live');
    expect(await actions(['diff', ...typed()], { env: { PROCESSOR_SECRET: 'sk_live_1' } })).toEqual({ keep: 11 });

    await platform.createProxy({ name: 'applied by hand', destination_url: world.current.destination.url });
    await write({ applications, proxies: changed.slice(0, 7) });
    expect(await actions(['apply', ...typed('--yes')], { env: { PROCESSOR_SECRET: 'sk_live_1' } })).toEqual({
      keep: 8,
      leave: 3,
    });
    expect((await platform.manage('GET', '/proxies?name=applied')).body.data).toHaveLength(11);
    expect(await actions(['apply', ...typed('--yes', '--prune')], { env: { PROCESSOR_SECRET: 'sk_live_1' } })).toEqual({
      keep: 8,
      delete: 3,
    });
    const names = (await platform.manage('GET', '/proxies?name=applied&size=100')).body.data.map(
      ({ name }: { name: string }) => name,
    );
    expect(names.sort()).toEqual([
      'applied 0',
      'applied 1',
      'applied 2',
      'applied 3',
      'applied 4',
      'applied 5',
      'applied 6',
      'applied by hand',
    ]);
    expect(await readFile(join(home, 'platform.applied.json'), 'utf8')).not.toMatch(/sk_live|svc_/);
  });

  test('what exists under a name is changed, and never pruned: this file did not make it', async () => {
    const { platform, destination } = world.current;
    const { id } = await platform.createProxy({ name: 'taken over', destination_url: destination.url });
    await writeFile(
      join(world.current.home, 'over.yaml'),
      `proxies:\n  - name: taken over\n    destination_url: ${destination.url}/x\n`,
    );
    expect((await json(['apply', '-f', 'over.yaml', '--yes'])).plan).toEqual([
      expect.objectContaining({ action: 'update', id }),
    ]);
    await writeFile(join(world.current.home, 'over.yaml'), 'proxies: []\n');
    expect((await json(['apply', '-f', 'over.yaml', '--yes', '--prune'])).plan).toEqual([]);
    expect((await platform.manage('GET', `/proxies/${id}`)).body.destination_url).toBe(`${destination.url}/x`);
  });

  test('a failure half-way leaves a record of what was made', async () => {
    const { destination, home } = world.current;
    const good = { name: 'half way', destination_url: destination.url };
    await writeFile(
      join(home, 'half.yaml'),
      JSON.stringify({ proxies: [good, { name: 'broken', destination_url: 'nonsense' }] }),
    );
    expect(await sluice(['apply', '-f', 'half.yaml', '--yes'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('destination_url'),
    });
    await writeFile(join(home, 'half.yaml'), '{}');
    expect((await json(['apply', '-f', 'half.yaml', '--yes', '--prune'])).plan).toEqual([
      expect.objectContaining({ action: 'delete', name: 'half way' }),
    ]);
  });

  test.each([
    ['two of one name', { proxies: [{ name: 'a' }, { name: 'a' }] }, 'Two proxies are named a'],
    [
      'a member that is misspelt',
      { proxies: [{ name: 'a', destinaton_url: 'x' }] },
      'there is no member destinaton_url',
    ],
    ['an unknown list', { reactors: [] }, 'unknown member reactors'],
    ['no name', { applications: [{}] }, 'applications[0] must have a name'],
    [
      'a variable that was not allowed',
      { proxies: [{ name: 'a', destination_url: { $env: 'PATH' } }] },
      'PATH is not allowed; allow it with --env PATH',
    ],
    [
      'a variable of our own',
      { proxies: [{ name: 'a', destination_url: { $env: 'SLUICE_API_KEY' } }] },
      'goes into no resource',
    ],
    [
      'a variable that is not set',
      { proxies: [{ name: 'a', destination_url: { $env: 'UNSET' } }] },
      'UNSET is not set',
    ],
    ['a file above', { proxies: [{ name: 'a', destination_url: { $file: '../x' } }] }, '../x'],
    [
      'an absolute file',
      { proxies: [{ name: 'a', destination_url: { $file: '/etc/hostname' } }] },
      'must be a file below',
    ],
    ['a link that leads out', { proxies: [{ name: 'a', destination_url: { $file: 'link' } }] }, 'must be a file below'],
    ['a reference with more', { proxies: [{ name: 'a', destination_url: { $file: 'x', y: 1 } }] }, 'nothing else'],
    [
      'an Application that nobody knows',
      { proxies: [{ name: 'a', application: { name: 'nobody' } }] },
      'does not exist and is not in the file',
    ],
    [
      'a type that changes',
      { applications: [{ name: 'cli backend', type: 'public', permissions: ['token:create'] }] },
      'The type of the Application cli backend',
    ],
  ])('%s: nothing is done', async (_name, content, message) => {
    const { home } = world.current;
    await symlink('/etc/hostname', join(home, 'link')).catch((error: NodeJS.ErrnoException) =>
      expect(error.code).toBe('EEXIST'),
    );
    await writeFile(join(home, 'wrong.json'), JSON.stringify(content));
    const { code, stderr } = await sluice([
      'apply',
      '-f',
      'wrong.json',
      '--yes',
      '--env',
      'UNSET',
      '--env',
      'SLUICE_API_KEY',
    ]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('YAML that is none is told by line, without what stands there', async () => {
    await writeFile(
      join(world.current.home, 'broken.yaml'),
      'proxies:\n  - name: a\n    configuration: { SECRET: sk_live_2\n',
    );
    const { code, stderr } = await sluice(['apply', '-f', 'broken.yaml']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/broken\.yaml is not valid YAML: line \d/)]);
    expect(stderr).not.toContain('sk_live');
  });

  test('pull writes a file with references, which applies without a change', async () => {
    const { home } = world.current;
    const { code, stderr } = await sluice(['pull', '-f', 'pulled/all.yaml']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('--env APPLIED_0_SECRET')]);
    const text = await readFile(join(home, 'pulled/all.yaml'), 'utf8');
    expect(text).not.toMatch(/sk_live|svc_/);
    expect(text).toContain('$env: APPLIED_0_SECRET');
    expect(await readFile(join(home, 'pulled/transforms/applied-0.request.js'), 'utf8')).toContain('args.body');
    const names = [...text.matchAll(/\$env: (\w+)/g)].map(([, name = '']) => name);
    const values = Object.fromEntries(names.map((name) => [name, 'sk_live_1']));
    const allowed = names.flatMap((name) => ['--env', name]);
    const shown = await json(['diff', '-f', 'pulled/all.yaml', ...allowed], { env: values });
    expect(shown.plan.filter(({ action }: { action: string }) => action !== 'keep')).toEqual([]);
    expect(await sluice(['pull', '-f', 'pulled/all.yaml'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--force'),
    });
  });
});
