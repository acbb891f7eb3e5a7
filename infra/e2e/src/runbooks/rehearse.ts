import { randomUUID } from 'node:crypto';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Credentials, findProgram } from '@sluice/local';
import { repositoryRoot } from '@sluice/local/parts';
import { openStoresFolder, programEnvironment, useStack } from '@sluice/testing';
import { createTenant, startPlatform } from '../platform.ts';
import { startOperator } from './operator.ts';
import { type Block, readBlocks } from './read-blocks.ts';
import { runBlocks } from './run-blocks.ts';
import { startReplica } from './start-replica.ts';

export const folder = join(repositoryRoot, 'infra', 'runbooks');
export const readRunbook = async (name: string) => readBlocks(await readFile(join(folder, name), 'utf8'));

/**
 * The runbooks of each test file, which run on one stack, in this order: the last of each leaves it without its keys, or
 * without its Postgres.
 */
export const rehearsals = {
  data: [
    'audit-request.md',
    'leaked-key.md',
    'leaked-session.md',
    'lost-management-key.md',
    'values-come-back.md',
    'backup-and-restore.md',
    'key-rotation.md',
  ],
  settings: [
    'bodies-refused.md',
    'connections-used-up.md',
    'invocations-missing.md',
    'names-fail.md',
    'old-version-runs.md',
    'pooler-or-shard-away.md',
    'runs-wait.md',
    'upgrade.md',
    'witness-stands.md',
    'losing-a-region.md',
  ],
};

/** Runs blocks in a shell that knows what those of the README defined. @returns what went wrong, in words. */
export type Rehearse = (blocks: Block[]) => Promise<string[]>;

/** A stack for the test file. Each rehearsal has a Tenant of its own, and the settings with which the stack was started. */
export function useRehearsals({ withReplica = false } = {}): Rehearse {
  const world = useStack(async (closing) => {
    const directory = await openStoresFolder(closing, 'runbooks');
    const { PATH, ...compiled } = programEnvironment();
    const environment: Record<string, string> = { PATH };
    const { stack, directory: ofStack } = await startPlatform(closing, { environment });
    const { databaseUrl, redisUrl } = stack;
    const replica = { of: ofStack, databaseUrl, redisUrl, directory: join(directory, 'replica') };
    const psql = await findProgram('psql', { path: PATH, packages: ['postgresql-client'] });
    const { HOME = '' } = process.env;
    const env = {
      ...(withReplica && { REPLICA_URL: await startReplica(replica, closing) }),
      ...psql.env,
      ...compiled,
      ...{ PATH: `${dirname(psql.command)}:${PATH}`, HOME, TMPDIR: directory, NO_COLOR: '1' },
    };
    const operator = await startOperator({ stack, environment }, closing);
    return {
      directory,
      stack,
      ofStack,
      env,
      operator,
      shell: await runReadme(directory, { ...env, SLUICE_DIR: ofStack }),
    };
  });

  /** The launcher's folder, but with the credentials of a new Tenant. */
  async function writeFolder(path: string): Promise<Credentials> {
    const { stack, ofStack } = world.current;
    await mkdir(path, { mode: 0o711 });
    for (const name of ['environment', 'ledger-key.pem', 'postgres', 'secrets.json']) {
      await symlink(join(ofStack, name), join(path, name));
    }
    const credentials = await createTenant({ directory: ofStack, stack });
    await writeFile(join(path, 'credentials.json'), JSON.stringify(credentials));
    return credentials;
  }

  return async (blocks) => {
    const { directory, env, operator, shell } = world.current;
    await operator.restore();
    const own = join(directory, randomUUID());
    const { management_key, tenant_id } = await writeFolder(own);
    const [run, work] = [join(own, 'run'), join(own, 'work')];
    for (const path of [run, work]) await mkdir(path, { mode: 0o711 });
    const ofTenant = `KEY='${management_key}' TENANT='${tenant_id}' WORK='${work}' SLUICE_DIR='${own}'`;
    const prelude = [operator.functions, `. '${shell}'`, ofTenant].join('\n');
    return await runBlocks(blocks, { directory: run, env, prelude, timeoutMs: 600_000 });
  };
}

/**
 * Runs the blocks of the README, with which every runbook begins.
 * @returns a file from which other shells get what they defined: only the Tenant's keys and folder differ.
 */
async function runReadme(directory: string, env: Record<string, string>): Promise<string> {
  const [run, shell] = [join(directory, 'readme'), join(directory, 'shell')];
  await mkdir(run);
  const keep: Block = { line: 0, script: `{ export -p; declare -p URL; declare -f; } > '${shell}'`, expected: [] };
  const blocks = [...(await readRunbook('README.md')), keep];
  const faults = await runBlocks(blocks, { directory: run, env, timeoutMs: 600_000 });
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return shell;
}

/** A runbook has commands, says what they print, and they print that. */
export function testRunbooks(names: readonly string[], rehearse: Rehearse): void {
  test.each(names)('the commands of %s do what it says', async (name) => {
    const blocks = await readRunbook(name);
    expect(blocks.length).toBeGreaterThan(2);
    expect(blocks.some(({ expected }) => expected.length > 0)).toBe(true);
    expect(await rehearse(blocks)).toEqual([]);
  });
}
