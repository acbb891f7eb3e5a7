import type { Socket } from 'node:net';
import { isConnectionLoss } from './failures.ts';

type Done = (error?: Error | null) => void;

/**
 * Lets an answer be read that a destination sent before it had read the whole request. When that destination closes its
 * connection, the next write fails while the answer waits in the receive buffer, and Node would destroy the socket with
 * it. Here a write that failed because the other side is gone ends the socket only when nothing is left to read.
 */
export function readAfterFailedWrite(socket: Socket): void {
  const write = socket._write.bind(socket);
  const writeAll = socket._writev?.bind(socket);

  const onceRead =
    (done: Done): Done =>
    (error) => {
      const hasMore = error && isConnectionLoss(error) && !socket.readableEnded && !socket.destroyed;
      if (hasMore) socket.once('end', () => process.nextTick(done, error));
      else done(error);
    };
  socket._write = (chunk, encoding, done) => write(chunk, encoding, onceRead(done));
  if (writeAll) socket._writev = (chunks, done) => writeAll(chunks, onceRead(done));
}
