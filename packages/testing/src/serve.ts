import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';

/** On a free port of 127.0.0.1 until the stack closes. @returns its URL. */
export function serveHttp(stack: AsyncDisposableStack, onRequest: RequestListener): Promise<string> {
  const server = createServer(onRequest);
  server.keepAliveTimeout = 60_000;
  return open(server, stack);
}

export function serveBytes(stack: AsyncDisposableStack, onConnection: (socket: Socket) => void): Promise<string> {
  return open(createTcpServer(onConnection), stack);
}

async function open(server: Server, stack: AsyncDisposableStack): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
