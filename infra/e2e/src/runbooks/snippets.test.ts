import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '@sluice/local/parts';
import { fullRunOnly, openTemporaryFolder, programEnvironment, startDestination, useStack } from '@sluice/testing';
import { startPlatform } from '../platform.ts';
import { startGitHost } from '../published-clients/git-server.ts';
import {
  secretKey,
  startAdyen,
  startBackend,
  startBins,
  startOpenAi,
  startPartner,
  startStripe,
  startThreeDs,
} from '../published-clients/stand-ins.ts';
import { isRun, readBlocks } from './read-blocks.ts';
import { runBlocks } from './run-blocks.ts';

/** Documents whose blocks this file runs. */
const here = [
  ...['llms.txt', 'packages/sdk/README.md', 'infra/guides/bind-a-token.md'],
  ...['infra/guides/call-with-stock-clients.md', 'infra/guides/charge-a-card.md', 'infra/guides/run-code-on-cards.md'],
  ...['infra/guides/give-an-agent-a-key.md', 'infra/guides/guard-responses.md'],
  ...['infra/guides/run-without-credentials.md', 'infra/guides/share-code.md'],
  ...['infra/guides/take-in-what-a-partner-sends.md', 'infra/guides/verify-the-audit-log.md'],
];
/** Documents that tests of their own run: tour.test.ts and the gateway's guide.test.ts; runbooks by those of rehearse.ts. */
const ofOthers = ['README.md', 'infra/guides/write-a-transform.md'];
const elsewhere = (path: string) => ofOthers.includes(path) || path.startsWith('infra/runbooks/');

const read = (path: string) => readFile(join(repositoryRoot, path), 'utf8');

const world = useStack(async (closing) => {
  const platform = await startPlatform(closing);
  const { baseUrl, credentials } = platform.stack;
  const permissions = ['token:create', 'token:use', 'token:read', 'token:delete'];
  const application = await platform.createApplication({ permissions });
  const proxy = await platform.createProxy({ destination_url: (await startDestination(closing)).url });
  const processors = {
    'https://api.openai.com': await startOpenAi(closing),
    'https://api.stripe.com': await startStripe(closing),
    'https://checkout-test.adyen.com': await startAdyen(closing),
    'https://bins.example.com': await startBins(closing),
    'https://3ds.example.com': await startThreeDs(closing),
    'https://github.com': await startGitHost(secretKey, closing),
    'https://backend.example.com': await startBackend(closing),
    'https://partner.example.com': await startPartner(closing),
    'https://processor.example.com': await startDestination(closing),
  };
  const { HOME = '' } = process.env;
  // For github.com, `sluice run` gives git such a helper itself. The stand-in has another host.
  const askpass = join(await openTemporaryFolder(closing, 'askpass'), 'askpass');
  await writeFile(askpass, '#!/bin/sh\nprintf %s "$GIT_API_KEY"\n', { mode: 0o755 });
  const env = {
    ...programEnvironment(),
    ...{ HOME, NO_COLOR: '1', GIT_ASKPASS: askpass, SLUICE_DIR: platform.directory, SLUICE_URL: baseUrl },
    XDG_CONFIG_HOME: await openTemporaryFolder(closing, 'config'),
    ...{
      SLUICE_API_KEY: application.key,
      SLUICE_PROXY_KEY: proxy.key,
      SLUICE_MANAGEMENT_KEY: credentials.management_key,
    },
    ...{
      OPENAI_SECRET_KEY: secretKey,
      STRIPE_SECRET_KEY: secretKey,
      ADYEN_API_KEY: secretKey,
      BIN_KEY: secretKey,
      GITHUB_TOKEN: secretKey,
      THREE_DS_KEY: secretKey,
      BACKEND_KEY: secretKey,
      PARTNER_KEY: secretKey,
    },
  };
  const directory = await openTemporaryFolder(closing, 'snippets');
  return { env, directory, processors };
});

/** Runs a document in a folder of its own, with stand-ins in the place of processors. */
async function faultsIn(name: string, markdown: string): Promise<string[]> {
  const { env, directory, processors } = world.current;
  const text = Object.entries(processors).reduce(
    (so, [url, { url: standIn }]) =>
      so.replaceAll(url, standIn).replaceAll(new URL(url).host, new URL(standIn).hostname),
    markdown,
  );
  const folder = join(directory, name.replaceAll('/', '-'));
  await mkdir(join(folder, 'run'), { recursive: true });
  await symlink(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'));
  return await runBlocks(readBlocks(text), { directory: join(folder, 'run'), cwd: folder, env, timeoutMs: 600_000 });
}

test.each(here)('the snippets of %s do what they say', async (path) => {
  const text = await read(path);
  expect(readBlocks(text).length).toBeGreaterThan(0);
  expect(await faultsIn(path, text)).toEqual([]);
});

fullRunOnly()('a snippet that sends something else than it says is noticed', async () => {
  const text = await read('packages/sdk/README.md');
  const damaged = text.replace("'$.number'", "'$.none'");
  expect(damaged).not.toBe(text);
  expect(await faultsIn('damaged', damaged)).toEqual([
    expect.stringMatching(/^the block of line \d+ (failed|did not print)/),
  ]);
});

test('no document has a snippet that no test runs', async () => {
  const folders = ['', 'infra', 'services', 'packages'];
  const found: string[] = [];
  for (const folder of folders) {
    const names = await readdir(join(repositoryRoot, folder), { recursive: folder !== '' });
    found.push(
      ...names
        .filter((name) => /\.(md|txt)$/.test(name) && !name.includes('node_modules'))
        .map((name) => join(folder, name)),
    );
  }
  const withSnippets: string[] = [];
  for (const path of found) if ((await read(path)).split('\n').some(isRun)) withSnippets.push(path);
  expect(withSnippets.filter((path) => !elsewhere(path)).sort()).toEqual([...here].sort());
});
