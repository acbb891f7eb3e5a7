import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../launch-error.ts';
import { processIdentity } from './process-identity.ts';

export interface EndOptions {
  /** The start time of the process, so that a later process with the same number is left alone. */
  identity: string;
  signal: NodeJS.Signals;
  deadlineMs: number;
}

/** Ends a process that need not be a child: first the signal, after the deadline SIGKILL. */
export async function endProcess(pid: number, { identity, signal, deadlineMs }: EndOptions): Promise<void> {
  sendSignal(pid, identity, signal);
  const killAt = performance.now() + deadlineMs;
  const giveUpAt = killAt + 2000;
  let killed = false;
  while (processIdentity(pid) === identity && performance.now() < giveUpAt) {
    if (!killed && performance.now() >= killAt) {
      sendSignal(pid, identity, 'SIGKILL');
      killed = true;
    }
    await sleep(20);
  }
}

function sendSignal(pid: number, identity: string, signal: NodeJS.Signals): void {
  if (processIdentity(pid) !== identity) return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended between the check and the signal.
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
