import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface Connection {
  readonly socket: Socket;
  /**
   * Responses still to be sent, in order. A Set for the whole server took a fifth of the gateway's time, because old
   * tables kept responses in memory.
   */
  readonly owed: ServerResponse[];
  /** Reading is paused, because too many requests wait. */
  isHeld: boolean;
  isEnding: boolean;
  /** Says `Connection: close`, because the server stops. */
  closing: ServerResponse | undefined;
}

export class Connections {
  readonly #open = new Map<Duplex, Connection>();
  #closes: 'none' | 'last' | 'all' = 'none';

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#open.set(socket, { socket, owed: [], isHeld: false, isEnding: false, closing: undefined });
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  find(socket: Duplex): Connection | undefined {
    return this.#open.get(socket);
  }

  lastOwed(socket: Duplex): ServerResponse | undefined {
    const last = this.#open.get(socket)?.owed.at(-1);
    return last && !last.writableFinished && !last.destroyed ? last : undefined;
  }

  owe(connection: Connection, response: ServerResponse): void {
    const previous = connection.owed.at(-1);
    connection.owed.push(response);
    if (this.#closes === 'none') return;
    if (this.#closes === 'last' && previous && previous === connection.closing && !previous.headersSent) {
      previous.shouldKeepAlive = true;
    }
    closeWith(response, connection);
  }

  /** From now on the last of the answers that a connection owes closes it; the others must arrive, too. */
  closeWithLast(): void {
    this.#closes = 'last';
    for (const connection of this.#open.values()) {
      const last = connection.owed.at(-1);
      if (last) closeWith(last, connection);
    }
  }

  closeWithAll(): void {
    this.#closes = 'all';
    for (const connection of this.#open.values()) {
      for (const response of connection.owed) closeWith(response, connection);
    }
  }

  /** Node counts connections that have carried nothing as busy until the timeout of their first head. */
  destroyUnused(): void {
    for (const { socket } of this.#open.values()) if (socket.bytesRead === 0) socket.destroy();
  }
}

function closeWith(response: ServerResponse, connection: Connection): void {
  if (response.headersSent || !response.shouldKeepAlive) return;
  response.shouldKeepAlive = false;
  connection.closing = response;
}

/** Call when the answer is out, or its connection is gone. */
export function settle(connection: Connection, response: ServerResponse): void {
  if (connection.owed[0] === response) connection.owed.shift();
  else connection.owed.splice(connection.owed.indexOf(response), 1);
  if (connection.closing === response) connection.closing = undefined;
}

const known = new WeakMap<Server, Connections>();

/** For a server that itself reports to {@link Connections} which responses are still to be sent. */
export function trackConnections(server: Server): Connections {
  const connections = new Connections(server);
  known.set(server, connections);
  return connections;
}

/** For any server that does not listen yet. */
export function connectionsOf(server: Server): Connections {
  const ordered = known.get(server);
  if (ordered) return ordered;
  const connections = trackConnections(server);
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = connections.find(socket);
    if (!connection) return;
    connections.owe(connection, response);
    response.once('close', () => settle(connection, response));
  });
  return connections;
}
