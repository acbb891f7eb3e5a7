import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { answerClientError, answerConnect, proxyRefusal } from '@sluice/problems';
import { type Connections, createOrderedServer } from '@sluice/service-runtime';
import { WholeRequest } from '../http/whole-request.ts';

interface ClientTimes {
  clientHeadMs: number;
  /** Milliseconds within which a client must send more of an awaited body, or read more of its response. */
  clientIdleMs: number;
}

export function createGatewayServer(listener: RequestListener, { clientHeadMs, clientIdleMs }: ClientTimes): Server {
  const { server, connections } = createOrderedServer(listener, {
    IncomingMessage: WholeRequest,
    maxHeaderSize: 16 * 1024,
    headersTimeout: clientHeadMs,
    requestTimeout: 0, // a body may take any time as long as it progresses
    keepAliveTimeout: 65_000,
    noDelay: true,
    refuse: (error, socket) => answerClientError(error, socket, proxyRefusal),
    refuseConnect: (socket) => answerConnect(socket, proxyRefusal),
  });
  endIdleClients(server, connections, clientIdleMs);
  return server;
}

/** Ends connections whose clients neither send the rest of a body nor read their answer. */
function endIdleClients(server: Server, connections: Connections, idleMs: number): void {
  // Node reports connections without any traffic, and those kept alive for long enough
  server.setTimeout(idleMs, (socket: Socket) => {
    const owed = connections.lastOwed(socket);
    if (!owed) {
      socket.destroy();
    } else if (socket.writableLength > 0) {
      socket.resetAndDestroy(); // a plain close would leave unread data in the system's buffers
    } else if (!owed.req.complete && owed.req.readableFlowing === true) {
      const code = 'ERR_HTTP_REQUEST_TIMEOUT'; // the code that Node uses for heads
      server.emit('clientError', Object.assign(new Error('The rest of the body did not come'), { code }), socket);
    } else {
      socket.setTimeout(idleMs);
    }
  });
}
