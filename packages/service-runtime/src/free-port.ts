import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

// Below every range from which a system takes ports for outgoing connections (Linux from 32768, others from 49152):
// of those any connection of any process may take one between the choice of a port and its use, or while a server that
// listened on it restarts.
const lowest = 10_000;
const count = 20_000;

/** Processes choose at the same time; each begins elsewhere, and so seldom meets what another has chosen. */
const perProcess = 100;

let next = (process.pid * perProcess) % count;

/**
 * A port of 127.0.0.1 that is free now, and that no process of this user chooses again for ten minutes: until somebody
 * listens on it, and while who does is started anew.
 */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < count; tried++) {
    const port = lowest + next;
    next = (next + 1) % count;
    if (!(await claimPort(port))) continue;
    try {
      await tryPort(port);
      return port;
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') throw error;
    }
  }
  throw new Error(`No port of 127.0.0.1 from ${lowest} to ${lowest + count - 1} is free`);
}

/** A claim holds in the period in which it is made and in the next: an empty file, which one process only can make. */
const periodMs = 600_000;
/** Whatever TMPDIR is: processes share their ports, not their temporary folders. */
const claims = join('/tmp', `sluice-ports-${process.getuid?.() ?? 'own'}`);

async function claimPort(port: number): Promise<boolean> {
  const period = Math.floor(Date.now() / periodMs);
  const folder = join(claims, `${period}`);
  const wasClaimed = () => existsSync(join(claims, `${period - 1}`, `${port}`));
  if (wasClaimed()) return false;
  if (await mkdir(folder, { recursive: true, mode: 0o700 })) await forgetBefore(period - 1);
  try {
    await writeFile(join(folder, `${port}`), '', { flag: 'wx' });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  return !wasClaimed(); // at the very end of that period
}

async function forgetBefore(period: number): Promise<void> {
  const over = (await readdir(claims)).filter((name) => /^\d+$/.test(name) && Number(name) < period);
  await Promise.all(over.map((name) => rm(join(claims, name), { recursive: true, force: true })));
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/**
 * Takes a port of 127.0.0.1 for a moment and gives it back.
 * @throws {Error} the system's, with its code, if the port cannot be listened on.
 */
export async function tryPort(port: number): Promise<void> {
  const server = createServer();
  server.listen({ host: '127.0.0.1', port });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
