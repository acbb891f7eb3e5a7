import type { ServerResponse } from 'node:http';

const defaults = { mostBytes: 64 * 1024 * 1024, longestMs: 5000 };

/**
 * Sends an answer, whose `Content-Length` is set, while the request may still be arriving. Up to the limits the rest of
 * the request is read and discarded first, because closing a connection with unread bytes loses the answer (RFC 9112
 * section 9.6), and the connection serves the next request; beyond them it is closed.
 */
export function endRefusal(response: ServerResponse, body: string, { mostBytes, longestMs } = defaults): void {
  const { req: request } = response;
  if (request.complete || request.destroyed) {
    response.end(body);
    return;
  }
  response.write(body);
  const close = () => request.socket.destroy();
  const timer = setTimeout(close, longestMs);
  let left = mostBytes;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) close();
  });
  request.once('end', () => response.end());
  request.once('error', close);
  request.once('close', () => clearTimeout(timer));
  request.resume();
}
