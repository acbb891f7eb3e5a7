import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '@sluice/local/parts';
import { eventually, openTemporaryFolder, startDestination, useStack } from '@sluice/testing';
import type { Page } from 'playwright-core';
import { clientOf } from '../platform.ts';
import { run, runProgram } from '../run-program.ts';
import { runBlocks } from '../runbooks/run-blocks.ts';
import { openConsole, signIn } from './open-console.ts';

const card = { number: '5555555555554444' };
const shop = {
  type: 'private' as const,
  permissions: ['token:create' as const, 'token:use' as const, 'token:delete' as const],
};
/** What the destination received, and sent back. */
const echoed = {
  curl: '{"card": {"number":"5555555555554444"}}',
  typescript: '200 {"card":{"number":"5555555555554444"}}',
};

/** A Tenant with nothing, and a folder in which the packed library is installed, as a customer has it. */
const world = useStack(async (closing) => {
  const platform = await openConsole();
  const project = await openTemporaryFolder(closing, 'snippets');
  await runProgram('infra/pack/src/main.ts', ['--to', join(project, 'tarballs')], { env: process.env });
  const library = (await readdir(join(project, 'tarballs'))).find((file) => file.startsWith('sluice-sdk'));
  await writeFile(join(project, 'package.json'), '{ "name": "customer", "private": true, "type": "module" }\n');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./tarballs/${library}`], { cwd: project });
  await writeFile(join(project, '.curlrc'), 'silent\nshow-error\n');
  return { ...platform, project, destination: await startDestination(closing) };
});

interface Snippet {
  curl: string;
  typescript: string;
}

/** Its lines for both clients, as a person copies them. */
async function copy(page: Page, what: string): Promise<Snippet> {
  const clients = page.getByRole('group', { name: `Client for ${what}`, exact: true });
  const lines = page.getByRole('group', { name: what, exact: true });
  const linesFor = async (client: string) => {
    await clients.getByRole('button', { name: client, exact: true }).click();
    return await lines.innerText();
  };
  return { typescript: await linesFor('TypeScript'), curl: await linesFor('curl') };
}

/** In the database, because no key of this file may read tokens. */
async function countTokens(): Promise<unknown> {
  const { query, stack } = world.current;
  const [row] = await query<{ count: string }>('select count(*) from tokens where tenant_id = $1', [
    stack.credentials.tenant_id,
  ]);
  return row?.count;
}

let count = 0;

/** Runs both in a shell with these variables, and compiles the program. Each prints what it got. */
async function expectRun(snippet: Snippet, env: Record<string, string>, expected: Snippet): Promise<void> {
  const { project } = world.current;
  const program = `node --input-type=module-typescript - <<'END_OF_SNIPPET'\n${snippet.typescript}\nEND_OF_SNIPPET`;
  const blocks = [
    { line: 1, script: snippet.curl, expected: [expected.curl] },
    { line: 2, script: program, expected: [expected.typescript] },
  ];
  count++;
  const directory = join(project, `run-${count}`);
  await mkdir(directory);
  const { PATH = '' } = process.env;
  const given = { PATH, HOME: project, NO_COLOR: '1', ...env };
  const faults = await runBlocks(blocks, { directory, cwd: project, env: given, timeoutMs: 60_000 });
  expect(faults).toEqual([]);
  const file = `snippet-${count}.ts`;
  await writeFile(join(project, file), snippet.typescript);
  const types = ['--typeRoots', join(repositoryRoot, 'node_modules/@types'), '--types', 'node'];
  const tsc = [join(repositoryRoot, 'node_modules/typescript-7/bin/tsc'), '--noEmit', '--strict', '--target', 'es2022'];
  await run(process.execPath, [...tsc, '--module', 'nodenext', ...types, file], { cwd: project });
}

test('the first steps run as they are pasted, before there is a token and a Proxy and afterwards', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { sluice, stack, destination } = world.current;
  await opened.goto('/', 'Overview');
  const create = await copy(page, 'the call that creates a token');
  const invoke = await copy(page, 'the call through the Proxy');
  expect(create.curl).toContain(`curl '${stack.baseUrl}/tokens'`);
  expect(create.typescript).toContain(`baseUrl: '${stack.baseUrl}'`);

  const { key } = await sluice.applications.create({ ...shop, name: 'Shop' });
  const env = { SLUICE_API_KEY: key };
  await expectRun(create, env, { curl: '…"type":"card"…', typescript: '…-…-…-…-…' });
  const proxy = await sluice.proxies.create({ name: 'Echo', destination_url: destination.url });
  await page.getByText('sends to').waitFor();
  await page.getByText('stands for the value').waitFor();
  const filled = await copy(page, 'the call through the Proxy');
  const token = await clientOf(stack.baseUrl, key).sluice.tokens.create({ type: 'card', data: card });
  await expectRun(invoke, { ...env, SLUICE_TOKEN: token.id, SLUICE_PROXY_KEY: proxy.key }, echoed);
  await expectRun(filled, env, echoed);
});

test('the snippets of the pages run as they are pasted, with the ids of what exists; a Proxy shows their calls and keeps no token', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { sluice, stack, destination } = world.current;
  const application = await sluice.applications.create({ ...shop, name: 'Backend' });
  const env = { SLUICE_API_KEY: application.key };
  const token = await clientOf(stack.baseUrl, application.key).sluice.tokens.create({ type: 'card', data: card });

  await opened.goto(`/applications/${application.id}`, 'Backend');
  const create = await copy(page, 'the call that creates a token');
  await expectRun(create, env, { curl: '…"type":"card"…', typescript: '…-…-…-…-…' });

  const body = {
    name: 'Sees a card',
    code: 'module.exports = async ({ args }) => ({ raw: { seen: args.card.number } });',
  };
  const reactor = await sluice.reactors.create(body);
  await opened.goto(`/reactors/${reactor.id}`, 'Sees a card');
  const react = await copy(page, 'the call that runs the Reactor');
  await expectRun(react, env, { curl: `…"seen":"${card.number}"…`, typescript: `…seen: '${card.number}'…` });

  const proxies = [
    { name: 'Plain', destination_url: destination.url },
    { name: 'Routed', destination_url: destination.url, path_name: `echo-${token.id.slice(0, 8)}` },
    { name: 'Open', destination_url: destination.url, require_auth: false },
  ];
  for (const given of proxies) {
    const proxy = await sluice.proxies.create(given);
    await opened.goto(`/tokens/${token.id}`, 'Token');
    await page.getByText(`Through the Proxy ${given.name}.`).waitFor();
    const use = await copy(page, 'the call that uses the token');
    expect(use.curl).toContain(`{{ ${token.id} }}`);
    await expectRun(use, env, echoed);
    await opened.goto(`/proxies/${proxy.id}`, given.name);
    const calls = page.getByRole('region', { name: 'Call this Proxy' });
    const linesFor = async (client: string) => {
      await calls.getByLabel('Client', { exact: true }).selectOption(client);
      return await calls.getByRole('group', { name: `the lines for ${client}` }).innerText();
    };
    const snippet = { typescript: await linesFor('Client library (TypeScript)'), curl: await linesFor('curl') };
    const rows = page.getByRole('group', { name: 'Last invocations' }).getByRole('row');
    await eventually('the use of the token is shown', async () => (await rows.count()) === 3);
    const kept = await countTokens();
    await expectRun(snippet, env, echoed);
    await eventually('both calls are shown', async () => (await rows.count()) === 5);
    expect(await countTokens()).toBe(kept);
  }

  const management = await sluice.applications.create({
    ...{ name: 'Deployment', type: 'management', permissions: ['proxy:read'] },
  });
  await opened.goto(`/applications/${management.id}`, 'Deployment');
  const list = await copy(page, 'the call that lists Proxies');
  const named = { curl: '…"name":"Routed"…', typescript: '…Routed' };
  await expectRun(list, { SLUICE_API_KEY: management.key }, named);
});
