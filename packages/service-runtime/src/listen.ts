import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Connections, connectionsOf } from './requests/connections.ts';

export interface ListenOptions {
  host: string;
  port: number;
  stack: AsyncDisposableStack;
  /** Once aborted, each answer ends its connection. New connections are accepted until the stack closes. */
  draining?: AbortSignal;
}

/** Closing the stack stops accepting, then waits until every connection is answered and gone. @returns the port. */
export async function listen(server: Server, { host, port, stack, draining }: ListenOptions): Promise<number> {
  const connections = connectionsOf(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  draining?.addEventListener('abort', () => connections.closeWithLast());
  stack.defer(() => {
    connections.closeWithAll();
    return closeServer(server, connections);
  });
  return (server.address() as AddressInfo).port;
}

function closeServer(server: Server, connections: Connections): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    connections.destroyUnused();
    // Repeated, because a connection becomes idle only after its last answer.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    sweep.unref();
    server.once('close', () => clearInterval(sweep));
  });
}
