import { once } from 'node:events';
import { createServer } from 'node:net';

// Below every range from which a system takes ports for outgoing connections (Linux from 32768, others from 49152):
// of those any connection of any process may take one between the choice of a port and its use, or while a server that
// listened on it restarts.
const lowest = 10_000;
const count = 20_000;

/** Processes choose at the same time; each begins in a part of its own. */
const perProcess = 100;

let next = (process.pid * perProcess) % count;

/** A port of 127.0.0.1 that is free now, and that this process does not choose again soon. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < count; tried++) {
    const port = lowest + next;
    next = (next + 1) % count;
    try {
      await tryPort(port);
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
  throw new Error(`No port of 127.0.0.1 from ${lowest} to ${lowest + count - 1} is free`);
}

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
