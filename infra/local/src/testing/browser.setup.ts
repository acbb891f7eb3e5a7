import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { libraryPath, unpackDebianPackages } from '../debian/debian-packages.ts';
import type { Program } from '../debian/find-program.ts';
import { defaultDirectory } from '../repository.ts';
import startStoresForTests from './stores.setup.ts';

const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Chromium of this machine, or of Debian's package, which is unpacked under `.sluice` and not installed. */
async function findChromium(): Promise<Program> {
  const command = installed.find(existsSync);
  if (command) return { command, env: {} };
  const root = await unpackDebianPackages({ packages: ['chromium'], directory: join(defaultDirectory, 'downloads') });
  // The program itself, because usr/bin/chromium is a script that looks for it where it is not installed.
  const folder = join(root, 'usr', 'lib', 'chromium');
  return {
    command: join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: `${folder}:${await libraryPath(root)}` },
  };
}

/**
 * Jest's globalSetup of the tests in a browser: Postgres and Redis as for all tests, and Chromium. Sets `TEST_CHROMIUM`
 * and `TEST_CHROMIUM_LIBRARIES` (its `LD_LIBRARY_PATH`, which other programs must not see).
 */
export default async function findBrowserForTests(): Promise<void> {
  const { command, env } = await findChromium();
  process.env.TEST_CHROMIUM = command;
  process.env.TEST_CHROMIUM_LIBRARIES = env.LD_LIBRARY_PATH ?? '';
  await startStoresForTests();
}
