import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Listens, and on disposal stops accepting, lets what is under way finish, and returns when every connection is gone.
 * @returns the port, which differs from the one asked for where that was 0.
 */
export async function listen(
  server: Server,
  { host, port, stack }: { host: string; port: number; stack: AsyncDisposableStack },
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  stack.defer(() => closeServer(server));
  return (server.address() as AddressInfo).port;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    // Connections that are idle now, and those that become idle when their last answer is out.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    sweep.unref();
    server.once('close', () => clearInterval(sweep));
  });
}
