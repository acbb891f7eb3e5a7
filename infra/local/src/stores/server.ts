import type { ChildProcess } from 'node:child_process';

/** A server that can be restarted on the same port and data after its process has ended. */
export interface Server {
  url: string;
  logFile: string;
  stopSignal: NodeJS.Signals;
  spawn(): Promise<ChildProcess>;
  untilAnswering(child: ChildProcess): Promise<void>;
}
