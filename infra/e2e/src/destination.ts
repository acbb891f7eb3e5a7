import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Destination {
  url: string;
  /** Bodies that arrived, with their path, oldest first. */
  seen: { path: string; authorization: string | undefined; body: string }[];
}

/** A real HTTP server that answers with the body that it was sent. */
export async function startDestination(closing: AsyncDisposableStack): Promise<Destination> {
  const seen: Destination['seen'] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    seen.push({ path: request.url ?? '', authorization: request.headers.authorization, body: body.toString() });
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}
