import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnedProcess } from './owned-process.ts';

/**
 * Resolves when something listens on the port of this machine.
 * @throws after 5 s, or when the signal is aborted; then the process has been stopped.
 */
export async function untilListening(
  started: OwnedProcess,
  { port, logFile, signal }: { port: number; logFile: string; signal: AbortSignal },
): Promise<void> {
  const deadline = performance.now() + 5000;
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect', { signal });
      return;
    } catch (error) {
      const isOver = performance.now() > deadline || signal.aborted;
      if (isOver) await started[Symbol.asyncDispose]();
      signal.throwIfAborted();
      if (isOver) throw new Error(`Nothing listens on port ${port}; see ${logFile}`, { cause: error });
      await sleep(25);
    } finally {
      socket.destroy();
    }
  }
}
