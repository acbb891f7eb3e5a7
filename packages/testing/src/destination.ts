import type { IncomingMessage } from 'node:http';
import { serveHttp } from './serve.ts';

export interface Destination {
  url: string;
  /** Oldest first. */
  seen: { path: string; authorization: string | undefined; body: string }[];
}

/** Answers each request with its own body. */
export async function startDestination(stack: AsyncDisposableStack): Promise<Destination> {
  const seen: Destination['seen'] = [];
  const url = await serveHttp(stack, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    seen.push({ path: request.url ?? '', authorization: request.headers.authorization, body: body.toString() });
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
  });
  return { url, seen };
}

export interface CountingDestination<K> {
  url: string;
  seen: ReadonlyMap<K, number>;
}

/** Echoes too, but only counts. A counted request was accepted, even where its caller never got the answer. */
export async function startCountingDestination<K>(
  kindOf: (request: IncomingMessage) => K,
  stack: AsyncDisposableStack,
): Promise<CountingDestination<K>> {
  const seen = new Map<K, number>();
  const url = await serveHttp(stack, (request, response) => {
    const kind = kindOf(request);
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    response.writeHead(200, { 'content-type': 'application/json' });
    request.pipe(response);
  });
  return { url, seen };
}
