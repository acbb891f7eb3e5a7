import { existsSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bounds, runCommand } from './processes/run-command.ts';
import { repositoryRoot } from './repository.ts';

const inRepository = (...path: string[]) => join(repositoryRoot, ...path);

const source = inRepository('packages', 'console');
/** Sources of the console. */
const sources = [source, inRepository('packages', 'sdk', 'src'), inRepository('services', 'management-api', 'public')];
const built = inRepository('services', 'management-api', 'dist', 'console');
const vite = inRepository('node_modules', 'vite', 'bin', 'vite.js');

/**
 * Builds the console if its sources have changed since the last build; it takes some seconds. Without the development
 * dependencies of npm it does nothing, and the management API logs whether the console exists.
 * @throws {CommandError} with the output of the builder.
 */
export async function buildConsole(log: (line: string) => void, bounds: Bounds = {}): Promise<void> {
  if (!existsSync(vite) || (await isBuilt())) return;
  log('Building the console, once');
  // In a separate folder, so that a service that starts during the build finds a complete old or new console.
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
