import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { libraryPath, unpackDebianPackages } from '@sluice/local';
import { defaultDirectory } from '@sluice/local/parts';
import { makeTemporaryFolder } from '@sluice/testing';

/** A browser without a window that asks no host but those of the page. */
const options = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-dev-shm-usage'],
  ...['--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  ...['--enable-logging=stderr', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
];

/** Chromium of the machine, or of Debian's package, which is unpacked and not installed. */
async function findChromium(): Promise<{ program: string; env: Record<string, string> }> {
  const { PATH = '' } = process.env;
  const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
  if (installed) return { program: installed, env: { PATH } };
  const downloads = join(defaultDirectory, 'downloads');
  const root = await unpackDebianPackages({ packages: ['chromium'], directory: downloads });
  const libraries = `${join(root, 'usr/lib/chromium')}:${await libraryPath(root)}`;
  return { program: join(root, 'usr/lib/chromium/chromium'), env: { PATH, LD_LIBRARY_PATH: libraries } };
}

/** Opens a page in a browser with a profile of its own. @throws {LaunchError} where there is no Chromium. */
export async function openInChromium(closing: AsyncDisposableStack, url: string): Promise<ChildProcess> {
  const { program, env } = await findChromium();
  const profile = await makeTemporaryFolder(closing, 'chromium');
  const child = spawn(program, [...options, `--user-data-dir=${profile}`, url], {
    env: { ...env, HOME: profile },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  closing.defer(async () => {
    child.kill();
    await ended;
  });
  return child;
}
