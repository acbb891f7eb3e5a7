import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Sluice, type SluiceOptions } from '../index.ts';

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** How the server handles one request: an answer with status, body and headers, or a function. */
export type Step =
  | { status: number; body?: unknown; headers?: Record<string, string> }
  | ((request: IncomingMessage, response: ServerResponse) => void);

export const apiKey = 'svc_local_mgt_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG000000';

/** Breaks the connection without an answer. */
export const lost: Step = (request) => request.socket.destroy();

/** An HTTP server that does one step after another and repeats the last one, and a client of it. */
export async function startScripted(stack: AsyncDisposableStack, steps: Step[], options: Partial<SluiceOptions> = {}) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const body = await text(request);
    const step = steps[Math.min(seen.length, steps.length - 1)];
    seen.push({ method, url, headers, body });
    if (typeof step === 'function') return step(request, response);
    const { status = 500, body: answer, headers: more } = step ?? {};
    const isText = typeof answer === 'string';
    response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...more });
    response.end(answer === undefined ? '' : isText ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { seen, baseUrl, sluice: new Sluice({ baseUrl, apiKey, ...options }) };
}
