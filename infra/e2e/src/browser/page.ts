import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { serveHttp } from '@sluice/testing';

export interface Page {
  url: string;
  /** What the page found out. */
  found: Promise<unknown>;
}

/** Serves a page whose script imports the library as an ES module from `folder`, and sends what it finds out here. */
export async function servePage(closing: AsyncDisposableStack, folder: string, script: string): Promise<Page> {
  const found = Promise.withResolvers<unknown>();
  const url = await serveHttp(closing, async (request, response) => {
    const { method, url: path = '' } = request;
    if (method === 'POST') {
      found.resolve(await json(request));
      response.end();
    } else if (path.startsWith('/library/')) {
      const text = await readFile(join(folder, path.slice('/library/'.length)));
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(text);
    } else {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`<!doctype html><link rel="icon" href="data:,"><script type="module">${script}</script>`);
    }
  });
  return { url: `${url}/`, found: found.promise };
}
