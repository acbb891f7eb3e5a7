import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import HttpProxy from 'http-proxy';

/** The counterexample: a lenient parser with plain http-proxy behind it. */
export async function startLenientProxy(target: string): Promise<{ url: string; close(): Promise<void> }> {
  const proxy = HttpProxy.createProxyServer({ target });
  const server = createServer({ insecureHTTPParser: true }, (request, response) => {
    try {
      proxy.web(request, response, {}, () => response.destroy());
    } catch {
      response.destroy(); // it throws for headers that cannot be set
    }
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
