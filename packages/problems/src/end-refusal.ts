import type { ServerResponse } from 'node:http';

const defaults = { mostBytes: 64 * 1024 * 1024, longestMs: 5000 };

/**
 * Discards the rest of the request before it ends the answer, which has a `Content-Length`, because closing a
 * connection with unread bytes loses the answer (RFC 9112 section 9.6). Beyond the limits the connection is closed.
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
