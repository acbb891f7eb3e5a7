import type { Socket } from 'node:net';
import { isConnectionLoss } from './failures.ts';

type Done = (error?: Error | null) => void;

/**
 * A destination may answer before it has read the whole request, and close its connection. The next write then fails
 * while the answer waits in the receive buffer. Node would destroy the socket; here it ends once all of it is read.
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
