import type { ChildProcess } from 'node:child_process';

/** A server that can be started again on the same port and data after its process has ended. */
export interface Server {
  url: string;
  logFile: string;
  stopSignal: NodeJS.Signals;
  spawn(): Promise<ChildProcess>;
  /** Resolves when the spawned process answers. */
  untilAnswering(child: ChildProcess): Promise<void>;
}
