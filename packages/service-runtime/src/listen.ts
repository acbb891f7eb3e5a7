import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { answersThatClose } from './answers-that-close.ts';

export interface ListenOptions {
  host: string;
  port: number;
  stack: AsyncDisposableStack;
  /** Once it is aborted, each answer ends its connection. New connections are still accepted until the stack closes. */
  draining?: AbortSignal;
}

/**
 * Listens. When the stack closes, it stops accepting, lets requests under way finish and waits until every connection is gone.
 * @returns the port, which differs from the one asked for where that was 0.
 */
export async function listen(server: Server, { host, port, stack, draining }: ListenOptions): Promise<number> {
  const answers = answersThatClose(server);
  const unused = unusedConnections(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  draining?.addEventListener('abort', () => answers.closeLast());
  stack.defer(() => {
    answers.closeAll();
    return closeServer(server, unused);
  });
  return (server.address() as AddressInfo).port;
}

function closeServer(server: Server, unused: { destroy(): void }): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    unused.destroy();
    // Repeated, because a connection becomes idle only when its last answer is out.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    sweep.unref();
    server.once('close', () => clearInterval(sweep));
  });
}

/** Tracks connections that have not carried a request. Node counts them as busy until the timeout of their first head. */
function unusedConnections(server: Server) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    destroy() {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}
