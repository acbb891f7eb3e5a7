import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const invocationHeader = 'x-invocation';

export interface CountingDestination {
  url: string;
  /** The numbers of the invocations that arrived. */
  seen: ReadonlySet<number>;
}

/** A destination that answers at once and notes what arrived: proof of an accept that its caller may never hear of. */
export async function startCountingDestination(stack: AsyncDisposableStack): Promise<CountingDestination> {
  const seen = new Set<number>();
  const server = createServer((request, response) => {
    seen.add(Number(request.headers[invocationHeader]));
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}
