import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

// Below the ranges for outgoing connections (Linux from 32768, others from 49152), because such a connection could take
// a port before its server listens, or while it restarts. Above 10080, the highest port that fetch and browsers refuse.
const lowest = 10_100;
const count = 20_000;

/** Concurrent processes start at different ports, so that two seldom try the same. */
const perProcess = 100;

let next = (process.pid * perProcess) % count;

/** No process of this user chooses the port for ten minutes, so that it stays free while a server restarts. */
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

/** A claim is an empty file, which only one process can create. It is valid in its own period and in the next one. */
const periodMs = 600_000;
/** Not in TMPDIR, because processes with different temporary folders share their ports. */
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
  return !wasClaimed(); // the claim may be from the very end of that period
}

async function forgetBefore(period: number): Promise<void> {
  const over = (await readdir(claims)).filter((name) => /^\d+$/.test(name) && Number(name) < period);
  await Promise.all(over.map((name) => rm(join(claims, name), { recursive: true, force: true })));
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/** Listens briefly on a port of 127.0.0.1. @throws the system's error if that is impossible. */
export async function tryPort(port: number): Promise<void> {
  const server = createServer();
  server.listen({ host: '127.0.0.1', port });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
