import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The order of requests on connections. */
export interface Turns {
  listener: RequestListener;
  /** For a server's `clientError`: calls `answer` when it is its turn, or ends the connection where it has none. */
  afterError(socket: Duplex, answer: () => void): void;
  /** Ends the connection behind the answers that it owes. What has arrived since is not served. */
  endAfterOwed(socket: Socket): void;
  /** The answer to the request that came last; undefined where none is owed. */
  owed(socket: Duplex): ServerResponse | undefined;
  /** True while nothing is read from a connection since too many requests wait on it. */
  isHeld(socket: Duplex): boolean;
}

/** What is known of a connection. */
interface Line {
  last: ServerResponse;
  waiting: number;
  isHeld: boolean;
  isEnding: boolean;
}

/** Beyond so many waiting requests nothing more is read; what one read brought may be some thousand more. */
const mostWaiting = 64;

/**
 * Node parses pipelined requests as they come and calls for all of them at once. Here a request waits until the one
 * before it on its connection is answered, so that none overtakes one which changes something (RFC 9112 section
 * 9.3.2), and so that a connection has one call under way, not as many as fit into a segment.
 */
export function oneAfterAnother(serve: RequestListener): Turns {
  const lines = new WeakMap<Duplex, Line>();

  function listener(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const line = lines.get(socket);
    if (line?.isEnding) return;
    if (!line) lines.set(socket, { last: response, waiting: 0, isHeld: false, isEnding: false });
    if (!line || isOver(line.last)) {
      if (line) line.last = response;
      serve(request, response);
      return;
    }
    const previous = line.last;
    line.last = response;
    line.waiting++;
    if (line.waiting > mostWaiting && !line.isHeld) hold(socket, line);
    previous.once('close', () => {
      line.waiting--;
      if (line.isHeld && line.waiting <= mostWaiting / 2) release(socket, line);
      serveLater(serve, request, response);
    });
  }

  /** What the parser refuses must not be taken for the answer to a request before it, let alone for a part of that. */
  function afterError(socket: Duplex, answer: () => void): void {
    if (lines.get(socket)?.isEnding) return;
    const response = owed(socket);
    if (!response) answer();
    else if (response.req.complete) response.once('close', answer);
    // The fault is in the body of that request: it is answered if nothing of an answer is out, and it is its turn
    else if (response.socket && !response.headersSent) answer();
    else socket.destroy();
  }

  function endAfterOwed(socket: Socket): void {
    const line = lines.get(socket);
    if (line) line.isEnding = true;
    const response = owed(socket);
    if (!response) {
      socket.destroySoon();
      return;
    }
    if (!response.headersSent) response.shouldKeepAlive = false;
    response.once('close', () => socket.destroySoon());
  }

  function owed(socket: Duplex): ServerResponse | undefined {
    const last = lines.get(socket)?.last;
    return last && !isOver(last) ? last : undefined;
  }

  return { listener, afterError, endAfterOwed, owed, isHeld: (socket) => lines.get(socket)?.isHeld === true };
}

function isOver(response: ServerResponse): boolean {
  return response.writableFinished || response.destroyed;
}

/** Node resumes a connection by itself after each request and each answer, so for a while it finds nothing to call. */
function hold(socket: Duplex, line: Line): void {
  line.isHeld = true;
  socket.resume = () => socket;
  // Behind a resume that is under way, which would make it undone
  process.nextTick(() => {
    if (line.isHeld) socket.pause();
  });
}

function release(socket: Duplex, line: Line): void {
  line.isHeld = false;
  Reflect.deleteProperty(socket, 'resume');
  socket.resume();
}

/** Where the connection is gone, or was closed with the answer before this one, nobody is left to be served. */
function serveLater(serve: RequestListener, request: IncomingMessage, response: ServerResponse): void {
  if (request.socket.writable) serve(request, response);
}
