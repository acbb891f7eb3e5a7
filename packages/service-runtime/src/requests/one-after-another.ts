import type { RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Connection, type Connections, settle } from './connections.ts';

/** With this many waiting requests, reading pauses. A single read may still have brought thousands. */
const mostWaiting = 64;

/**
 * Node would start all pipelined requests at once. One could then overtake another that changes something (RFC 9112
 * section 9.3.2), and one connection could have hundreds of calls under way.
 */
export function oneAfterAnother(serve: RequestListener, connections: Connections): RequestListener {
  function begin(response: ServerResponse): void {
    serve(response.req, response);
    response.on('close', serveNext); // runs after the listeners of `serve`, so that its work is over when the next begins
  }

  function serveNext(this: ServerResponse): void {
    const connection = connections.find(this.req.socket);
    if (!connection) return;
    settle(connection, this);
    const [next] = connection.owed;
    if (connection.isHeld && connection.owed.length - 1 <= mostWaiting / 2) release(connection);
    // The answer before may have closed the connection.
    if (next && connection.socket.writable) begin(next);
  }

  return (request, response) => {
    const connection = connections.find(request.socket);
    if (!connection || connection.isEnding) return;
    connections.owe(connection, response);
    const waiting = connection.owed.length - 1;
    if (waiting === 0) begin(response);
    else if (waiting > mostWaiting && !connection.isHeld) hold(connection);
  };
}

/**
 * Calls `answer` after the responses to earlier requests, or ends the connection, because a refusal sent too early would be
 * read as part of one of them.
 */
export function afterOwed(connections: Connections, socket: Duplex, answer: () => void): void {
  if (connections.find(socket)?.isEnding) return;
  const response = connections.lastOwed(socket);
  if (!response) answer();
  else if (response.req.complete) response.once('close', answer);
  // The fault is in the body of this request: it is answered if it is the next and its response has not begun.
  else if (response.socket && !response.headersSent) answer();
  else socket.destroy();
}

/** Later requests are not served. */
export function endAfterOwed(connections: Connections, socket: Duplex & { destroySoon(): void }): void {
  const connection = connections.find(socket);
  if (connection) connection.isEnding = true;
  const response = connections.lastOwed(socket);
  if (!response) {
    socket.destroySoon();
    return;
  }
  if (!response.headersSent) response.shouldKeepAlive = false;
  response.once('close', () => socket.destroySoon());
}

/** Pauses reading. Node resumes a connection after each request and answer, so `resume` is disabled while it is paused. */
function hold(connection: Connection): void {
  const { socket } = connection;
  connection.isHeld = true;
  socket.resume = () => socket;
  // Later, because a resume that is in progress would undo the pause.
  process.nextTick(() => {
    if (connection.isHeld) socket.pause();
  });
}

function release(connection: Connection): void {
  connection.isHeld = false;
  Reflect.deleteProperty(connection.socket, 'resume');
  connection.socket.resume();
}
