import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpath, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode, LaunchError } from '../launch-error.ts';

/**
 * Ensures that only one launcher works on a folder. The lock is a listening Unix socket, which the system releases
 * however its owner ends; on Linux it has an abstract name and no file.
 * @throws {LaunchError} when another launcher holds the lock.
 */
export async function lockFolder(folder: string, stack: AsyncDisposableStack): Promise<void> {
  const hash = createHash('sha256')
    .update(await realpath(folder))
    .digest('hex')
    .slice(0, 32);
  const isLinux = process.platform === 'linux';
  const path = isLinux ? `\0sluice-${hash}` : join(tmpdir(), `sluice-${hash}.sock`);
  if (!isLinux && !(await isHeld(path))) await rm(path, { force: true }); // left by an owner that was killed
  const server = createServer((socket) => socket.destroy());
  server.listen(path);
  try {
    await once(server, 'listening');
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE') throw error;
    throw new LaunchError(`Sluice runs already on ${folder}; stop it, or choose another folder with SLUICE_DIR`, {
      cause: error,
    });
  }
  stack.defer(async () => {
    server.close();
    await once(server, 'close');
  });
}

function isHeld(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
