import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { Duplex } from 'node:stream';
import { oneAfterAnother, type Turns } from './one-after-another.ts';
import { declineUpgrades } from './upgrade-offers.ts';

/** How a service refuses what is not for its listener: each writes an answer and ends the connection. */
export interface Refusals {
  /** What the parser does not take for a request. */
  refuse(error: NodeJS.ErrnoException, socket: Duplex): void;
  refuseConnect(socket: Duplex): void;
}

/** How late a timeout may be; Node's default is 30 s. */
const connectionsCheckingInterval = 1000;

/**
 * A server for clients that are not trusted. Requests of one connection are served one after another, and what the parser
 * refuses is answered behind them. The listener gets every request, those too which Node would refuse with an empty body:
 * it has to ask {@link faultInHead}, and to count the headers.
 */
export function createOrderedServer(
  listener: RequestListener,
  { refuse, refuseConnect, ...options }: Refusals & ServerOptions,
): { server: Server; turns: Turns } {
  const turns = oneAfterAnother(listener);
  const server = createServer(
    {
      ...options,
      connectionsCheckingInterval,
      requireHostHeader: false,
      shouldUpgradeCallback: declineUpgrades(turns.endAfterOwed),
    },
    turns.listener,
  );
  server.maxHeadersCount = 0; // Node would drop headers beyond its own limit without a word
  server.on('checkExpectation', turns.listener);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // The rest of that head may be there: we are not reading the connection while its earlier requests are answered.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && turns.isHeld(socket)) return;
    turns.afterError(socket, () => refuse(error, socket));
  });
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy()); // Node has let go of it: an error that nobody hears would end the process
    // Nor does Node tell the answer before this one when it may write on.
    if (turns.owed(socket)) socket.destroy();
    else refuseConnect(socket);
  });
  return { server, turns };
}
