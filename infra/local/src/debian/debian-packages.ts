import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../launch-error.ts';
import { type Bounds, runCommand } from '../processes/run-command.ts';

export interface UnpackOptions extends Bounds {
  /** For example `['redis-server']`. Missing dependencies are unpacked too. */
  packages: string[];
  /** Where unpacked packages are kept; packages that exist are not fetched again. */
  directory: string;
  /** Called before anything is fetched. */
  onDownload?: () => void;
}

const timeoutMs = 180_000;

/**
 * Unpacks programs from packages of this Debian or Ubuntu, as any user: apt-get works in its own folders, and nothing
 * is installed. apt decides which dependencies the machine lacks.
 * @returns the folder that represents `/`: programs are in its `usr/bin`, libraries in {@link libraryPath}.
 * @throws {CommandError} if there is no apt-get, no such package, or no network.
 */
export async function unpackDebianPackages(options: UnpackOptions): Promise<string> {
  const { packages, directory, onDownload, ...bounds } = options;
  const root = join(directory, `${packages.join('+')}-${await systemName()}`);
  if (existsSync(root)) return root;
  onDownload?.();
  await mkdir(directory, { recursive: true });
  const work = await mkdtemp(join(directory, 'unfinished-'));
  try {
    const archives = await download(packages, work, bounds);
    const unpacked = join(work, 'root');
    for (const archive of archives) await runCommand('dpkg', ['-x', archive, unpacked], bounds);
    await moveInPlace(unpacked, root);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return root;
}

/**
 * The `LD_LIBRARY_PATH` for the programs of an unpacked folder. It names folders such as `x86_64-linux-gnu/pulseaudio`
 * too, because libraries find those by a path that only exists where they are installed.
 */
export async function libraryPath(root: string): Promise<string> {
  const folders: string[] = [];
  for (const parent of [join(root, 'usr', 'lib'), join(root, 'lib')]) {
    for (const name of await foldersIn(parent)) {
      if (!name.includes('-linux-gnu')) continue;
      const own = join(parent, name);
      folders.push(own);
      for (const inner of await foldersIn(own)) {
        if (await hasLibrary(join(own, inner))) folders.push(join(own, inner));
      }
    }
    folders.push(parent);
  }
  return folders.join(':');
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = existsSync(folder) ? await readdir(folder, { withFileTypes: true }) : [];
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

async function hasLibrary(folder: string): Promise<boolean> {
  return (await readdir(folder)).some((name) => /^lib.*\.so/.test(name));
}

async function download(packages: string[], work: string, bounds: Bounds): Promise<string[]> {
  const archives = join(work, 'archives');
  await mkdir(join(archives, 'partial'), { recursive: true });
  await mkdir(join(work, 'lists', 'partial'), { recursive: true });
  const settings = {
    'Dir::State::Lists': join(work, 'lists'),
    'Dir::Cache': work,
    'Dir::Cache::Archives': archives,
    'Debug::NoLocking': '1',
    'APT::Sandbox::User': '', // as root, apt would switch to a user who cannot write here
    'Acquire::Languages': 'none',
    'Acquire::Retries': '1',
    'Acquire::http::Timeout': '20',
  };
  const options = ['-qq', ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])];
  await runCommand('apt-get', [...options, 'update'], { ...bounds, timeoutMs });
  const install = ['install', '--yes', '--download-only', '--no-install-recommends', '--reinstall', ...packages];
  await runCommand('apt-get', [...options, ...install], { ...bounds, timeoutMs });
  const names = await readdir(archives);
  return names.filter((name) => name.endsWith('.deb')).map((name) => join(archives, name));
}

/** Another process may have been faster. */
async function moveInPlace(unpacked: string, root: string): Promise<void> {
  try {
    await rename(unpacked, root);
  } catch (error) {
    if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
  }
}

/** For example `debian-12-x64`, because packages of another release need other libraries. */
async function systemName(): Promise<string> {
  const release = existsSync('/etc/os-release') ? await readFile('/etc/os-release', 'utf8') : '';
  const field = (name: string) => release.match(new RegExp(`^${name}="?([\\w.-]*)`, 'm'))?.[1] ?? 'unknown';
  return `${field('ID')}-${field('VERSION_ID')}-${process.arch}`;
}
