import type { ServerResponse } from 'node:http';

const defaults = { mostBytes: 64 * 1024 * 1024, longestMs: 5000 };

/**
 * Sends the body of an answer, whose `Content-Length` is set, to a request that may still be arriving. What is left of
 * the request is read and thrown away, within limits, before the answer ends: a connection that is closed with bytes
 * unread is reset, and the answer is lost with them (RFC 9112 section 9.6). Afterwards the connection serves the next
 * request; beyond the limits it is closed.
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
