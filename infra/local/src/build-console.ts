import { existsSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bounds, runCommand } from './processes/run-command.ts';
import { repositoryRoot } from './repository.ts';

const inRepository = (...path: string[]) => join(repositoryRoot, ...path);

const source = inRepository('packages', 'console');
/** What the console is built of. */
const sources = [source, inRepository('packages', 'sdk', 'src'), inRepository('services', 'management-api', 'public')];
const built = inRepository('services', 'management-api', 'dist', 'console');
const vite = inRepository('node_modules', 'vite', 'bin', 'vite.js');

/**
 * Builds the console where that was not done since its sources changed; it takes some seconds. Without the development
 * dependencies of npm it stays as it is, and the management API says whether it is there.
 * @throws {CommandError} with what the builder says.
 */
export async function buildConsole(log: (line: string) => void, bounds: Bounds = {}): Promise<void> {
  if (!existsSync(vite) || (await isBuilt())) return;
  log('Building the console, once');
  // In a folder of its own, so that a service that starts meanwhile finds the former one, or the new one whole.
  const making = `${built}-${process.pid}`;
  const args = [vite, 'build', source, '--outDir', making, '--logLevel', 'warn'];
  await runCommand(process.execPath, args, { ...bounds, env: { NODE_ENV: 'production' } });
  await rm(built, { recursive: true, force: true });
  await rename(making, built);
}

async function isBuilt(): Promise<boolean> {
  const index = join(built, 'index.html');
  if (!existsSync(index)) return false;
  const { mtimeMs } = await stat(index);
  const changed = await Promise.all(sources.map(newestIn));
  return Math.max(...changed) <= mtimeMs;
}

async function newestIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile() && !/node_modules/.test(entry.parentPath));
  const times = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).mtimeMs),
  );
  return Math.max(0, ...times);
}
