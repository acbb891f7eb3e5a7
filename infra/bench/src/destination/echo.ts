import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Received {
  method: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Echo extends AsyncDisposable {
  port: number;
  /** The request that was answered last. */
  last(): Received | undefined;
}

/** A destination that answers with the body that it received. */
export async function startEcho(): Promise<Echo> {
  let last: Received | undefined;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    last = { method: request.method, headers: request.headers, body };
    response.setHeader('Content-Type', 'application/json');
    response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    last: () => last,
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
