import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The order of requests on connections. */
export interface Turns {
  listener: RequestListener;
  /** For a server's `clientError`: calls `answer` when it is its turn, or ends the connection where it has none. */
  afterError(socket: Duplex, answer: () => void): void;
}

/**
 * Node parses pipelined requests as they come and calls for all of them at once. Here a request waits until the one
 * before it on its connection is answered, so that none overtakes one which changes something (RFC 9112 section
 * 9.3.2), and so that a connection has one call under way, not as many as fit into a segment.
 */
export function oneAfterAnother(serve: RequestListener): Turns {
  const last = new WeakMap<Duplex, ServerResponse>();

  function listener(request: IncomingMessage, response: ServerResponse): void {
    const previous = last.get(request.socket);
    last.set(request.socket, response);
    if (!previous || isOver(previous)) serve(request, response);
    else previous.once('close', () => serveLater(serve, request, response));
  }

  /** What the parser refuses must not be taken for the answer to a request before it, let alone for a part of that. */
  function afterError(socket: Duplex, answer: () => void): void {
    const response = last.get(socket);
    if (!response || isOver(response)) answer();
    else if (response.req.complete) response.once('close', answer);
    // The fault is in the body of that request: it is answered if nothing of an answer is out, and it is its turn
    else if (response.socket && !response.headersSent) answer();
    else socket.destroy();
  }

  return { listener, afterError };
}

function isOver(response: ServerResponse): boolean {
  return response.writableFinished || response.destroyed;
}

/** Where the connection is gone, or was closed with the answer before this one, nobody is left to be served. */
function serveLater(serve: RequestListener, request: IncomingMessage, response: ServerResponse): void {
  if (request.socket.writable) serve(request, response);
}
