import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Turns } from '@sluice/service-runtime';

/**
 * Ends the connections of clients that keep us waiting: with the rest of a body, or by not reading their answer. How long
 * a request takes in all has no bound, as bodies have no bound of size. A client that waits for us is left alone.
 */
export function endIdleClients(server: Server, turns: Turns, idleMs: number): void {
  // Node reports connections on which nothing moved in either direction, and those kept alive for long enough
  server.setTimeout(idleMs, (socket: Socket) => {
    const owed = turns.owed(socket);
    if (!owed) {
      socket.destroy();
    } else if (socket.writableLength > 0) {
      socket.resetAndDestroy(); // a plain close would leave the system with what nobody takes
    } else if (!owed.req.complete && owed.req.readableFlowing === true) {
      const code = 'ERR_HTTP_REQUEST_TIMEOUT'; // as Node's own for heads
      server.emit('clientError', Object.assign(new Error('The rest of the body did not come'), { code }), socket);
    } else {
      socket.setTimeout(idleMs);
    }
  });
}
