import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import type { ThreadSettings } from './messages.ts';

/**
 * Before anything else is loaded: on Linux each thread has a priority of its own, which no thread without privileges
 * ever gets back. It still gets a tenth or so of a core that others want. Other systems have only one for the process, and there the thread keeps it.
 */
if ((workerData as ThreadSettings).givesWay && process.platform === 'linux') {
  const id = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  setPriority(id, constants.priority.PRIORITY_BELOW_NORMAL);
}
