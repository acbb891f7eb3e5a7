import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';

export interface Page {
  url: string;
  /** What the page found out. */
  found: Promise<unknown>;
}

/** Serves a page whose script imports the library as an ES module from `folder`, and sends what it finds out here. */
export async function servePage(closing: AsyncDisposableStack, folder: string, script: string): Promise<Page> {
  const found = Promise.withResolvers<unknown>();
  const server = createServer(async (request, response) => {
    const { method, url = '' } = request;
    if (method === 'POST') {
      found.resolve(await json(request));
      response.end();
    } else if (url.startsWith('/library/')) {
      const text = await readFile(join(folder, url.slice('/library/'.length)));
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(text);
    } else {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`<!doctype html><link rel="icon" href="data:,"><script type="module">${script}</script>`);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, found: found.promise };
}
