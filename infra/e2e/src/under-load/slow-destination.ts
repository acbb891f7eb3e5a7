import type { ServerResponse } from 'node:http';
import { serveHttp } from '@sluice/testing';
import { requestIdHeader } from './misbehaving-destination.ts';

export interface SlowDestination {
  url: string;
  /** Called when a request has arrived, and when its connection is gone before it was answered. */
  onArrival: (id: string) => void;
  onAbort: (id: string) => void;
  /** Bytes of large bodies that were taken from it, by request. */
  taken: ReadonlyMap<string, number>;
  /** Large bodies that are not at their end and not given up. */
  readonly streaming: number;
}

export const largeBodyBytes = 50 * 1024 * 1024;
const answerAfterMs = 3000;
const piece = Buffer.alloc(64 * 1024, 'z');

/** `/large` gives a large body as fast as it is taken; anything else is answered late. */
export async function startSlowDestination(stack: AsyncDisposableStack): Promise<SlowDestination> {
  const taken = new Map<string, number>();
  const streams = new Set<ServerResponse>();
  const destination: SlowDestination = {
    url: '',
    onArrival: () => undefined,
    onAbort: () => undefined,
    taken,
    get streaming() {
      return streams.size;
    },
  };
  destination.url = await serveHttp(stack, (request, response) => {
    const id = String(request.headers[requestIdHeader]);
    request.resume();
    if (request.url === '/large') {
      streams.add(response);
      response.on('close', () => streams.delete(response));
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': largeBodyBytes });
      pour(response, (bytes) => taken.set(id, bytes));
      return;
    }
    destination.onArrival(id);
    const timer = setTimeout(() => response.end('{}'), answerAfterMs);
    response.on('close', () => {
      clearTimeout(timer);
      if (!response.writableEnded) destination.onAbort(id);
    });
  });
  return destination;
}

function pour(response: ServerResponse, onTaken: (bytes: number) => void): void {
  let sent = 0;
  const more = () => {
    while (sent < largeBodyBytes && !response.destroyed) {
      sent += piece.length;
      onTaken(sent);
      if (!response.write(piece)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
}
