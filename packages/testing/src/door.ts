import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Door {
  /** On 127.0.0.1. */
  port: number;
  /** Cuts every connection and refuses new ones. */
  shut(): Promise<void>;
  open(): Promise<void>;
  /** From now on requests pass and answers wait. Returns what lets them through. */
  holdAnswers(): () => void;
}

/** A way to a server that can be shut and opened again, so that the server is away for one test only. Begins open. */
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
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const shut = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(0);
  stack.defer(async () => {
    if (server.listening) await shut();
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    shut,
    open: () => listen(port),
    holdAnswers() {
      const { promise, resolve } = Promise.withResolvers<void>();
      passed = promise;
      return resolve;
    },
  };
}
