import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addTo } from './count.ts';

/** By which requests are counted. */
export const caseHeader = 'x-case';

export interface EchoDestination {
  url: string;
  /** How many requests came under each case. */
  seen: ReadonlyMap<string, number>;
}

/** A destination that sends each body back. */
export async function startEchoDestination(stack: AsyncDisposableStack): Promise<EchoDestination> {
  const seen = new Map<string, number>();
  const server = createServer((request, response) => {
    addTo(seen, String(request.headers[caseHeader]));
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
