import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addTo } from '../under-load/count.ts';

/** By which clients number what they send. */
export const invocationHeader = 'x-invocation';

export interface CountingDestination<K> {
  url: string;
  /** How many requests arrived of each kind. */
  seen: ReadonlyMap<K, number>;
}

/**
 * A destination that sends each body back at once and notes what arrived: proof of an accept that its caller may never
 * hear of.
 */
export async function startCountingDestination<K>(
  kindOf: (request: IncomingMessage) => K,
  stack: AsyncDisposableStack,
): Promise<CountingDestination<K>> {
  const seen = new Map<K, number>();
  const server = createServer((request, response) => {
    addTo(seen, kindOf(request));
    response.writeHead(200, { 'content-type': 'application/json' });
    request.pipe(response);
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
