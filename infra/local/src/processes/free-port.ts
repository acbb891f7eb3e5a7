import { once } from 'node:events';
import { createServer } from 'node:net';
import { errorCode, LaunchError } from '../launch-error.ts';

/** Takes a port of 127.0.0.1 for a moment (0: any that is free) and gives it back. */
async function tryPort(port: number): Promise<number> {
  const server = createServer();
  server.listen({ host: '127.0.0.1', port });
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : port;
}

const givenOut = new Set<number>();

/** A port of 127.0.0.1 that was free just now, and that this process has not given out before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await tryPort(0);
    if (givenOut.has(port)) continue;
    givenOut.add(port);
    return port;
  }
}

/** @throws {LaunchError} if the port cannot be listened on. */
export async function assertPortFree(port: number): Promise<void> {
  try {
    await tryPort(port);
  } catch (error) {
    const reason = errorCode(error) === 'EADDRINUSE' ? 'is in use' : `cannot be used (${errorCode(error)})`;
    throw new LaunchError(
      `Port ${port} of 127.0.0.1 ${reason}; choose another, for example PORT=${port + 1} npm start`,
      {
        cause: error,
      },
    );
  }
}
