import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** On a free port of 127.0.0.1, until the stack is disposed. @returns the port. */
export async function serve(stack: AsyncDisposableStack, listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

export async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  return (await json(request)) as Record<string, unknown>;
}

export function send(response: ServerResponse, body: string, headers: Record<string, string>, status = 200): void {
  response.writeHead(status, { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', ...headers });
  response.end(body);
}
