import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface Turns {
  listener: RequestListener;
  /** For a server's `clientError`: calls `answer` after the owed answers, or else ends the connection. */
  afterError(socket: Duplex, answer: () => void): void;
  /** Ends the connection after the answers that it owes. Later requests are not served. */
  endAfterOwed(socket: Socket): void;
  /** The answer to the latest request; undefined where none is owed. */
  owed(socket: Duplex): ServerResponse | undefined;
  /** Whether reading is paused because too many requests wait on the connection. */
  isHeld(socket: Duplex): boolean;
}

interface Line {
  last: ServerResponse;
  waiting: number;
  isHeld: boolean;
  isEnding: boolean;
}

/** With this many waiting requests, reading pauses. A single read may still have brought thousands. */
const mostWaiting = 64;

/**
 * Serves the requests of one connection one after another. Node would call the listener for all pipelined requests at
 * once, so that one could overtake another that changes something (RFC 9112 section 9.3.2), and one connection could have as
 * many calls under way as fit into a segment.
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

  /** A client must not take a refusal of the parser for the answer to an earlier request, or for a part of it. */
  function afterError(socket: Duplex, answer: () => void): void {
    if (lines.get(socket)?.isEnding) return;
    const response = owed(socket);
    if (!response) answer();
    else if (response.req.complete) response.once('close', answer);
    // The fault is in the body of this request, so it is answered if its turn has come and no answer has begun.
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

/** Pauses reading. Node resumes a connection after each request and answer, so `resume` is disabled meanwhile. */
function hold(socket: Duplex, line: Line): void {
  line.isHeld = true;
  socket.resume = () => socket;
  // Later than a resume that is in progress, because that would undo the pause.
  process.nextTick(() => {
    if (line.isHeld) socket.pause();
  });
}

function release(socket: Duplex, line: Line): void {
  line.isHeld = false;
  Reflect.deleteProperty(socket, 'resume');
  socket.resume();
}

/** Serves a waiting request, unless its connection is gone or was closed with the previous answer. */
function serveLater(serve: RequestListener, request: IncomingMessage, response: ServerResponse): void {
  if (request.socket.writable) serve(request, response);
}
