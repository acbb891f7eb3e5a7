import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const invocationHeader = 'x-invocation';

export interface CountingDestination {
  url: string;
  /** The invocations that arrived, by number, and how often each did. */
  seen: ReadonlyMap<number, number>;
}

/**
 * A destination that sends each body back at once and notes what arrived: proof of an accept that its caller may never
 * hear of.
 */
export async function startCountingDestination(stack: AsyncDisposableStack): Promise<CountingDestination> {
  const seen = new Map<number, number>();
  const server = createServer((request, response) => {
    const number = Number(request.headers[invocationHeader]);
    seen.set(number, (seen.get(number) ?? 0) + 1);
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
