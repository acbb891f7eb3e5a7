import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { libraryPath, unpackDebianPackages } from '@sluice/local';

export interface Program {
  command: string;
  env: Record<string, string>;
}

export interface ProgramSource {
  /**
   * Finds a program on this machine, or unpacks the named packages of this Debian or Ubuntu without installing them.
   * Undefined where neither is possible.
   */
  find(name: string, packages: string[]): Promise<Program | undefined>;
}

export interface ProgramSourceOptions {
  /** `PATH`. */
  path: string;
  /** Where downloads are kept. */
  downloads: string;
  log: (line: string) => void;
  signal: AbortSignal;
}

/** Folders of servers, which not every user's `PATH` contains. */
const serverFolders = ['/usr/local/sbin', '/usr/sbin'];

export function programSource({ path, downloads, log, signal }: ProgramSourceOptions): ProgramSource {
  const installed = [...path.split(':').filter(Boolean), ...serverFolders];
  return {
    async find(name, packages) {
      const command = await findIn(installed, name);
      if (command) return { command, env: {} };
      try {
        const onDownload = () => log(`Downloading ${name} (once)`);
        const root = await unpackDebianPackages({ packages, directory: downloads, onDownload, signal });
        const unpacked = await findIn([join(root, 'usr', 'bin'), join(root, 'usr', 'sbin')], name);
        if (!unpacked) return undefined;
        return { command: unpacked, env: { LD_LIBRARY_PATH: await libraryPath(root) } };
      } catch (error) {
        signal.throwIfAborted();
        log(`${name} could not be downloaded: ${error instanceof Error ? error.message.split('\n')[0] : error}`);
        return undefined;
      }
    },
  };
}

async function findIn(folders: string[], name: string): Promise<string | undefined> {
  for (const folder of folders) {
    const file = join(folder, name);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
