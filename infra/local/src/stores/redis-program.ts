import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { libraryPath, unpackDebianPackages } from '../debian/debian-packages.ts';
import type { Program } from '../debian/find-program.ts';
import { LaunchError } from '../launch-error.ts';
import { type Bounds, CommandError, runCommand } from '../processes/run-command.ts';

export interface RedisProgramOptions extends Bounds {
  /** Where a downloaded program is kept. */
  downloads: string;
  log: (line: string) => void;
}

/**
 * Finds Redis or Valkey: on the PATH, otherwise from the packages of this Debian or Ubuntu, unpacked without
 * installing.
 * @throws {LaunchError} where neither is available; the message says what to do.
 */
export async function findRedisProgram({ downloads, log, ...bounds }: RedisProgramOptions): Promise<Program> {
  for (const command of ['valkey-server', 'redis-server']) {
    if (await runs({ command, env: {} }, bounds)) return { command, env: {} };
  }
  try {
    return await unpackRedis({ downloads, log, ...bounds });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new LaunchError(
      `Redis is missing and could not be downloaded (${error.message.split('\n')[0]}).\nInstall it (sudo apt-get install redis-server, or brew install valkey), or give one: REDIS_URL=redis://host:6379 npm start`,
      { cause: error },
    );
  }
}

async function unpackRedis({ downloads, log, ...bounds }: RedisProgramOptions): Promise<Program> {
  const packages = ['redis-server'];
  const options = { packages, directory: downloads, onDownload: () => log('Downloading Redis (once)'), ...bounds };
  const root = await unpackDebianPackages(options);
  const program = await programIn(root);
  if (await runs(program, bounds)) return program;
  // It was unpacked on a machine with a library that this machine lacks.
  await rm(root, { recursive: true });
  return programIn(await unpackDebianPackages(options));
}

async function programIn(root: string): Promise<Program> {
  return { command: join(root, 'usr', 'bin', 'redis-server'), env: { LD_LIBRARY_PATH: await libraryPath(root) } };
}

async function runs({ command, env }: Program, bounds: Bounds): Promise<boolean> {
  try {
    await runCommand(command, ['--version'], { ...bounds, ...(Object.keys(env).length > 0 && { env }) });
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}
