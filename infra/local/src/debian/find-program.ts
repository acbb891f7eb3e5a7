import { access, constants, glob } from 'node:fs/promises';
import { join } from 'node:path';
import { LaunchError } from '../launch-error.ts';
import { defaultDirectory } from '../repository.ts';
import { libraryPath, unpackDebianPackages } from './debian-packages.ts';

export interface Program {
  command: string;
  /** Variables that it needs in addition to the caller's environment. */
  env: Record<string, string>;
}

export interface FindOptions {
  /** `PATH`. */
  path: string;
  packages: string[];
  /** Called before anything is fetched. */
  onDownload?: () => void;
  signal?: AbortSignal | undefined;
}

/** Folders of servers, which not every user's `PATH` contains. */
const serverFolders = ['/usr/local/sbin', '/usr/sbin'];

/** Programs of Postgres first, because their wrappers in `usr/bin` need more of Debian than was unpacked. */
const unpackedFolders = ['usr/lib/postgresql/*/bin', 'usr/bin', 'usr/sbin'];

/**
 * Finds a program of this machine, or in packages of this Debian or Ubuntu, which are unpacked under `.sluice` and not
 * installed.
 * @throws {LaunchError} if it can be found in neither.
 */
export async function findProgram(name: string, { path, ...unpacking }: FindOptions): Promise<Program> {
  for (const folder of [...path.split(':').filter(Boolean), ...serverFolders]) {
    if (await isExecutable(join(folder, name))) return { command: join(folder, name), env: {} };
  }
  const root = await unpackDebianPackages({ ...unpacking, directory: join(defaultDirectory, 'downloads') });
  for (const folder of unpackedFolders) {
    for await (const path of glob(join(folder, name), { cwd: root })) {
      const command = join(root, path);
      if (await isExecutable(command)) return { command, env: { LD_LIBRARY_PATH: await libraryPath(root) } };
    }
  }
  throw new LaunchError(`There is no ${name} in ${root}`);
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
