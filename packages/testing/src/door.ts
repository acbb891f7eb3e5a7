import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '@sluice/service-runtime/free-port';

export interface Door {
  /** On 127.0.0.1. */
  port: number;
  /** Cuts all connections and refuses new ones. */
  shut(): Promise<void>;
  open(): Promise<void>;
  /** Requests pass and answers wait. @returns a function that lets the answers through. */
  holdAnswers(): () => void;
}

/** A way to a server that a test can shut, so that the server is away for this test only. Begins open. */
export async function openDoor(target: { port: number; host: string }, stack: AsyncDisposableStack): Promise<Door> {
  const sockets = new Set<Socket>();
  let passed = Promise.resolve();
  const server = createServer((client) => {
    const upstream = connect(target);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    }
    client.on('close', () => upstream.destroy()).pipe(upstream);
    upstream
      .on('data', (answer) => void passed.then(() => client.writable && client.write(answer)))
      .on('close', () => void passed.then(() => client.destroy()));
  });
  const port = await freePort(); // reserved, so that nothing else takes it while the door is shut
  const open = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const shut = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await open();
  stack.defer(async () => {
    if (server.listening) await shut();
  });
  return {
    port,
    shut,
    open,
    holdAnswers() {
      const { promise, resolve } = Promise.withResolvers<void>();
      passed = promise;
      return resolve;
    },
  };
}
