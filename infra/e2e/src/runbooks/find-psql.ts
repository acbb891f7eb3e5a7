import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { libraryPath, unpackDebianPackages } from '@sluice/local';
import { defaultDirectory } from '@sluice/local/parts';

/** What psql needs of the environment: the one on the PATH, or that of this Debian or Ubuntu, unpacked. */
export async function findPsql(path: string): Promise<Record<string, string>> {
  for (const folder of path.split(':')) if (existsSync(join(folder, 'psql'))) return { PATH: path };
  const root = await unpackDebianPackages({
    packages: ['postgresql-client'],
    directory: join(defaultDirectory, 'downloads'),
    signal: undefined,
    watchdog: undefined,
  });
  const versions = join(root, 'usr', 'lib', 'postgresql');
  for (const version of await readdir(versions)) {
    const program = join(versions, version, 'bin', 'psql');
    const env = { LD_LIBRARY_PATH: await libraryPath(root) };
    await promisify(execFile)(program, ['--version'], { env });
    return { ...env, PATH: `${dirname(program)}:${path}` };
  }
  throw new Error(`There is no psql in ${versions}`);
}
