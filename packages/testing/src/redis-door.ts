import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { testRedisUrl } from './test-redis.ts';

export interface RedisDoor {
  /** Redis behind the door. */
  url: string;
  /** Cuts every connection and refuses new ones. */
  shut(): Promise<void>;
  open(): Promise<void>;
}

/** A way to the test's Redis that can be shut and opened again, so that Redis is away for one test only. Begins open. */
export async function openRedisDoor(stack: AsyncDisposableStack): Promise<RedisDoor> {
  const redis = new URL(testRedisUrl());
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(redis.port), redis.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    }
    client.on('close', () => upstream.destroy()).pipe(upstream);
    upstream.on('close', () => client.destroy()).pipe(client);
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
  const url = new URL(redis);
  url.host = `127.0.0.1:${port}`;
  return { url: url.href, shut, open: () => listen(port) };
}
