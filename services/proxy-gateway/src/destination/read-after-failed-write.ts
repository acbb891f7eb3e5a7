import type { Socket } from 'node:net';
import { isConnectionLoss } from './failures.ts';

type Done = (error?: Error | null) => void;

/** Node would destroy the socket after a failed write, although an early answer may still wait in it to be read. */
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
