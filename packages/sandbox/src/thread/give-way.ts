import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import type { ThreadSettings } from './messages.ts';

/** Gives a third of the main thread's share of a contended core, because the main thread serves all Tenants. */
const quickNiceness = 5;

/** Runs before anything else is loaded. Elsewhere than on Linux it would be the priority of the whole process. */
if (process.platform === 'linux') {
  const id = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  const { givesWay } = workerData as ThreadSettings;
  setPriority(id, givesWay ? constants.priority.PRIORITY_BELOW_NORMAL : quickNiceness);
}
