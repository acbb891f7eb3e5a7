import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Connections, trackConnections } from './connections.ts';
import { GatheredRequest } from './gathered-request.ts';
import { afterOwed, endAfterOwed, oneAfterAnother } from './one-after-another.ts';
import { declineUpgrades } from './upgrade-offers.ts';

/** How a service answers requests that never reach its listener; each answer also ends the connection. */
export interface Refusals {
  refuse(error: NodeJS.ErrnoException, socket: Duplex): void;
  refuseConnect(socket: Duplex): void;
}

/** How late a timeout may be; Node's default is 30 s. */
const connectionsCheckingInterval = 1000;

interface OrderedServer {
  server: Server;
  connections: Connections;
  serveInOrder: RequestListener;
}

/**
 * For untrusted clients. The listener also receives requests that Node would refuse with an empty body, so it must call
 * {@link faultInHead} and count the headers.
 */
export function createOrderedServer(
  listener: RequestListener,
  { refuse, refuseConnect, ...options }: Refusals & ServerOptions,
): OrderedServer {
  const server = createServer({
    IncomingMessage: GatheredRequest,
    ...options,
    connectionsCheckingInterval,
    requireHostHeader: false,
    shouldUpgradeCallback: declineUpgrades((socket) => endAfterOwed(connections, socket)),
  });
  const connections = trackConnections(server);
  const serveInOrder = oneAfterAnother(listener, connections);
  server.maxHeadersCount = 0; // Node would silently drop headers beyond its own limit
  server.on('request', serveInOrder);
  server.on('checkExpectation', serveInOrder);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // The rest of that head may have arrived, because reading is paused while earlier requests are answered.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connections.find(socket)?.isHeld) return;
    afterOwed(connections, socket, () => refuse(error, socket));
  });
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy()); // Node no longer listens, and an unhandled error would end the process
    // Node does not notify the previous response when it may write, so it cannot be awaited.
    if (connections.lastOwed(socket)) socket.destroy();
    else refuseConnect(socket);
  });
  return { server, connections, serveInOrder };
}
