import { randomUUID } from 'node:crypto';
import { copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { repositoryRoot } from '@sluice/local/parts';
import { eventually, openTemporaryFolder, startDestination, useStack } from '@sluice/testing';
import { type Platform, sharePlatform } from './platform.ts';
import { run, runProgram } from './run-program.ts';

const examples = join(repositoryRoot, 'packages/sdk/examples');

/** The Node that everything here runs on, and the machine's own, which may be as old as 20. */
const machinePath = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
const nodes: [name: string, path: string[]][] = [
  ['the bundled Node', [join(process.execPath, '..'), ...machinePath]],
  ["the machine's own Node", machinePath],
];

const world = useStack(async (closing) => {
  const project = await openTemporaryFolder(closing, 'empty');
  const packed = await runProgram('infra/pack/src/main.ts', ['--to', join(project, 'tarballs')], { env: process.env });
  await writeFile(join(project, 'package.json'), '{ "name": "empty", "private": true }\n');
  const tarballs = (await readdir(join(project, 'tarballs'))).map((file) => `./tarballs/${file}`);
  // Offline: nothing but the tarballs is needed.
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], { cwd: project });
  // A shop's own React. Nothing of the tarballs needs it but the wrapper of the fields.
  for (const name of ['react', 'react-dom', 'scheduler', '@types/react', 'csstype']) {
    await cp(join(repositoryRoot, 'node_modules', name), join(project, 'node_modules', name), { recursive: true });
  }
  await mkdir(join(project, 'esm'));
  for (const file of await readdir(examples)) await copyFile(join(examples, file), join(project, file));
  await copyFile(join(examples, 'types.ts'), join(project, 'esm/types.mts'));
  const platform = await sharePlatform();
  const destination = await startDestination(closing);
  return { project, packed: packed.stdout, platform, destination };
});

test('Node 20 and Node 26 are both tried', async () => {
  const versions = await Promise.all(
    nodes.map(async ([, path]) => (await run('node', ['--version'], { env: { PATH: path.join(delimiter) } })).stdout),
  );
  expect(versions.map((version) => version.split('.')[0]).sort()).toEqual(['v20', 'v26']);
});

test('the library is under 15 KB, as its README says, and has no dependencies', async () => {
  const { packed, project } = world.current;
  const [, size = ''] = /The library is ([\d.]+) KB/.exec(packed) ?? [];
  expect(Number(size)).toBeGreaterThan(1);
  expect(Number(size)).toBeLessThan(15);
  const readme = await readFile(join(repositoryRoot, 'packages/sdk/README.md'), 'utf8');
  const [, today] = /under 15 KB\n\(gzip; (\d+) KB today\)/.exec(readme) ?? [];
  expect(Number(today)).toBe(Math.ceil(Number(size)));
  const manifest = JSON.parse(await readFile(join(project, 'node_modules/@sluice/sdk/package.json'), 'utf8'));
  expect(manifest.dependencies).toBeUndefined();
});

test('no package has a test, or a source that needs a build', async () => {
  const { project } = world.current;
  for (const name of ['@sluice/sdk', 'sluice', '@sluice/elements']) {
    const files = await readdir(join(project, 'node_modules', name, 'dist'), { recursive: true });
    expect(files.filter((file) => /\.test\.|testing\/|(?<!\.d)\.ts$/.test(file))).toEqual([]);
    expect(files.length).toBeGreaterThan(4);
  }
});

test.each(['types.ts', 'esm/types.mts'])('a strict program compiles: %s', async (file) => {
  const { project } = world.current;
  const types = ['--typeRoots', join(repositoryRoot, 'node_modules/@types'), '--types', 'node'];
  expect(await compile(project, ['--module', 'nodenext', ...types, file])).toBe('');
});

test('a strict page compiles: the examples of the fields, with and without React', async () => {
  const { project } = world.current;
  const documents = { 'page.ts': 'README.md', 'shop.tsx': 'REFERENCE.md' };
  for (const [file, document] of Object.entries(documents)) {
    const text = await readFile(join(project, 'node_modules/@sluice/elements', document), 'utf8');
    const [, code = ''] = /```(?:typescript|tsx)\n(.*?)```/s.exec(text) ?? [];
    expect(code).toContain("from '@sluice/elements");
    await writeFile(join(project, file), code);
  }
  const browser = ['--module', 'esnext', '--moduleResolution', 'bundler', '--jsx', 'react-jsx', '--lib', 'es2022,dom'];
  expect(await compile(project, [...browser, ...Object.keys(documents)])).toBe('');
  const wrong = `import { fields } from '@sluice/elements';\nfields('', '', { application: '' }).field('pin', '#pin', {});\n`;
  await writeFile(join(project, 'wrong.ts'), wrong);
  expect(await compile(project, [...browser, 'wrong.ts'])).toContain(`'"pin"' is not assignable`);
});

test.each([
  ['node10', 'ts', ['--module', 'commonjs', '--moduleResolution', 'node10', '--ignoreDeprecations', '6.0']],
  ['node16, a CommonJS module', 'cts', ['--module', 'node16']],
  ['node16, an ES module', 'mts', ['--module', 'node16']],
  ['bundler', 'ts', ['--module', 'esnext', '--moduleResolution', 'bundler']],
])('the packages are found by %s', async (_, extension, options) => {
  const { project } = world.current;
  const file = `found.${extension}`;
  const program = [
    `import { fields } from '@sluice/elements';`,
    `import { useFields, type FieldProps } from '@sluice/elements/react';`,
    `import { Sluice } from '@sluice/sdk';`,
    `export const group: ReturnType<typeof useFields> = fields('', '', { application: '' });`,
    `export type Props = FieldProps<'card'>;`,
    `export const sluice = new Sluice({ baseUrl: '', apiKey: '' });`,
    `// @ts-expect-error: no such kind`,
    `group.field('pin', '#pin', { title: '' });`,
  ];
  await writeFile(join(project, file), program.join('\n'));
  const library = ['--lib', 'es2022,dom,dom.iterable,esnext.disposable'];
  expect(await compile(project, [...options, ...library, file])).toBe('');
});

/** The native compiler, but for what only the one before it still knows. @returns what it finds wrong. */
async function compile(project: string, options: string[]): Promise<string> {
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck', 'false'];
  const compiler = options.includes('node10') ? 'typescript' : 'typescript-7';
  const tsc = join(repositoryRoot, 'node_modules', compiler, 'bin/tsc');
  const typed = [tsc, '--noEmit', '--target', 'es2022', ...strict, ...options];
  const { stdout } = await run(process.execPath, typed, { cwd: project }).catch((error) => error);
  return stdout;
}

describe.each(nodes)('on %s', (_name, path) => {
  const environment = (more: object) => ({ PATH: path.join(delimiter), ...more });
  const managing = ({ stack: { baseUrl, credentials } }: Platform) =>
    environment({ SLUICE_URL: baseUrl, SLUICE_API_KEY: credentials.management_key });

  test('the example of an ES module charges a card, and its log shows no value', async () => {
    const { project, platform, destination } = world.current;
    const permissions = ['token:create', 'token:use', 'token:delete', 'token:read'];
    const application = await platform.createApplication({ permissions });
    const proxy = await platform.createProxy({ destination_url: destination.url });
    const { baseUrl } = platform.stack;
    const env = environment({ SLUICE_URL: baseUrl, SLUICE_API_KEY: application.key, SLUICE_PROXY_KEY: proxy.key });
    const { stdout } = await run('node', ['charge.mjs'], { cwd: project, env });
    expect(stdout).toContain('The processor answered 200');
    expect(stdout).toContain("data: '[hidden]'");
    expect(stdout).not.toContain('4242424242424242');
    const body = '{"amount":4200,"card":"4242424242424242"}';
    expect(destination.seen.at(-1)).toMatchObject({ path: '/charges', body });
  });

  test('a server renders fields, as the empty elements into which the page puts them', async () => {
    const { project } = world.current;
    const script = `
      import { createElement } from 'react';
      import { renderToString } from 'react-dom/server';
      import { Field, useFields } from '@sluice/elements/react';
      const Shop = () => {
        const fields = useFields('https://fields.example.com', 'key', { application: 'app' });
        return createElement(Field, { fields, kind: 'card', title: 'Card', className: 'field' });
      };
      console.log(renderToString(createElement(Shop)));`;
    await writeFile(join(project, 'render.mjs'), script);
    const { stdout } = await run('node', ['render.mjs'], { cwd: project, env: environment({}) });
    expect(stdout).toBe('<div class="field"></div>\n');
  });

  test('a program of CommonJS has the fields, too', async () => {
    const { project } = world.current;
    const script = `
      const { fields } = require('@sluice/elements');
      const { Field } = require('@sluice/elements/react');
      console.log(typeof fields('https://fields.example.com', 'key', { application: 'app' }).tokenize, typeof Field);`;
    await writeFile(join(project, 'fields.cjs'), script);
    const { stdout } = await run('node', ['fields.cjs'], { cwd: project, env: environment({}) });
    expect(stdout).toBe('function function\n');
  });

  test('the example of CommonJS deletes what it iterates', async () => {
    const { project, platform } = world.current;
    for (const name of ['temporary 1', 'temporary 2'])
      await platform.createApplication({ name, permissions: ['token:use'] });
    const { stdout } = await run('node', ['clean-up.cjs'], { cwd: project, env: managing(platform) });
    expect(stdout).toBe('Deleted temporary 2\nDeleted temporary 1\n');
  });

  test('the example of an export writes the audit log, each row once', async () => {
    const { project, platform } = world.current;
    const env = managing(platform);
    await eventually('rows that are sequenced', async () => {
      const { stdout, stderr } = await run('node', ['export-logs.mjs'], { cwd: project, env });
      const rows = stdout.split('\n').slice(0, -1);
      expect(stderr).toBe(`Written: ${rows.length} rows\n`);
      expect(rows.map((row) => JSON.parse(row).leaf_index)).toEqual(rows.map((_, i) => i));
      return rows.length > 0;
    });
  });

  test('the command line runs by npx: login, apply, list', async () => {
    const { project, platform, destination } = world.current;
    const { baseUrl, credentials } = platform.stack;
    const env = environment({ XDG_CONFIG_HOME: join(project, 'config') });
    const sluice = (...typed: string[]) => run('npx', ['--no-install', 'sluice', ...typed], { cwd: project, env });
    await writeFile(join(project, 'keys'), credentials.management_key);
    await sluice('login', '--url', baseUrl, '--key-file', 'keys');
    await writeFile(
      join(project, 'platform.yaml'),
      `proxies:\n  - { name: packed, destination_url: ${destination.url} }\n`,
    );
    await sluice('apply', '-f', 'platform.yaml', '--yes');
    expect(JSON.parse((await sluice('proxies', 'list', '--name', 'packed')).stdout).data).toHaveLength(1);
    await writeFile(join(project, 'platform.yaml'), 'proxies: []\n');
    await sluice('apply', '-f', 'platform.yaml', '--yes', '--prune');
    expect(JSON.parse((await sluice('proxies', 'list', '--name', 'packed')).stdout).data).toHaveLength(0);
    expect((await sluice('logs', 'verify', '--help')).stdout).toContain('Usage: sluice logs verify');
    const { version } = JSON.parse(await readFile(join(repositoryRoot, 'package.json'), 'utf8'));
    expect((await sluice('--version')).stdout).toBe(`${version}\n`);
  });

  test('the packed sluice mcp speaks the protocol, with nothing but what the tarball brings', async () => {
    const { project, platform, destination } = world.current;
    const { baseUrl, credentials } = platform.stack;
    const env = environment({ XDG_CONFIG_HOME: join(project, 'config-of-agents') });
    const proxy = { destination_url: destination.url, path_name: `packed-${randomUUID()}`, response_guard: 'redact' };
    await platform.createProxy(proxy);
    const keyOf = async (body: object) => (await platform.createApplication(body)).key;
    const calls = await keyOf({ permissions: ['token:use', 'token:create'] });
    const begins = await keyOf({ type: 'public', permissions: ['token:create'] });
    await writeFile(join(project, 'keys'), [credentials.management_key, calls, begins].join('\n'));
    await run('npx', ['--no-install', 'sluice', 'login', '--url', baseUrl, '--key-file', 'keys'], {
      cwd: project,
      env,
    });
    const args = ['--no-install', 'sluice', 'mcp', '--routes', proxy.path_name];
    const client = new Client({ name: 'agent', version: '1' });
    await client.connect(new StdioClientTransport({ command: 'npx', args, cwd: project, env }));
    const call = { route: proxy.path_name, method: 'POST', path: '/', body: { packed: true } };
    const { content, isError } = await client.callTool({ name: 'call', arguments: call });
    await client.close();
    expect([isError, content]).toEqual([undefined, [expect.anything(), { type: 'text', text: '{"packed":true}' }]]);
  });
});
