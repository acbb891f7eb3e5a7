import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Connections } from '@sluice/service-runtime';

/** Ends connections whose clients neither send the rest of a body nor read their answer. */
export function endIdleClients(server: Server, connections: Connections, idleMs: number): void {
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
