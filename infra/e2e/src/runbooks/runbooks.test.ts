import { mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findProgram } from '@sluice/local';
import { repositoryRoot } from '@sluice/local/parts';
import { makeTemporaryFolder, programEnvironment } from '@sluice/testing';
import { startPlatform } from '../platform.ts';
import { startOperator } from './operator.ts';
import { type Block, readBlocks } from './read-blocks.ts';
import { runBlocks } from './run-blocks.ts';
import { startReplica } from './start-replica.ts';

const folder = join(repositoryRoot, 'infra', 'runbooks');
const read = async (name: string) => readBlocks(await readFile(join(folder, name), 'utf8'));
const names = (await readdir(folder)).filter((name) => name !== 'README.md');

/** Runs blocks, after those of the README, against a stack of their own. */
async function rehearse(blocks: Block[], { withReplica = false } = {}): Promise<string[]> {
  await using closing = new AsyncDisposableStack();
  const directory = await makeTemporaryFolder(closing, 'runbook');
  const { HOME = '' } = process.env;
  const { PATH, ...compiled } = programEnvironment();
  const environment: Record<string, string> = { PATH };
  const { stack, directory: stackDirectory } = await startPlatform(closing, { environment });
  const { databaseUrl, redisUrl } = stack;
  const replica = { of: stackDirectory, databaseUrl, redisUrl, directory: join(directory, 'replica') };
  const psql = await findProgram('psql', { path: PATH, packages: ['postgresql-client'] });
  const env = {
    ...(withReplica && { REPLICA_URL: await startReplica(replica, closing) }),
    ...psql.env,
    ...compiled,
    PATH: `${dirname(psql.command)}:${PATH}`,
    HOME,
    TMPDIR: directory,
    SLUICE_DIR: stackDirectory,
    NO_COLOR: '1',
  };
  const runDirectory = join(directory, 'run');
  await mkdir(runDirectory);
  return await runBlocks([...(await read('README.md')), ...blocks], {
    directory: runDirectory,
    env,
    prelude: await startOperator({ stack, environment }, closing),
    timeoutMs: 200_000,
  });
}

test.each(names)('the commands of %s do what it says', async (name) => {
  const blocks = await read(name);
  expect(blocks.length).toBeGreaterThan(2);
  expect(blocks.some(({ expected }) => expected.length > 0)).toBe(true);
  expect(await rehearse(blocks, { withReplica: name === 'losing-a-region.md' })).toEqual([]);
});

test('a command that does not do what the runbook says is noticed', async () => {
  const blocks = await read('leaked-key.md');
  const damaged = blocks.map((block) => ({ ...block, script: block.script.replace('/regenerate', '') }));
  expect(damaged).not.toEqual(blocks);
  const faults = await rehearse(damaged);
  expect(faults).toEqual([expect.stringMatching(/^the block of line \d+ failed \(1\)/)]);
});
