import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import type { ThreadSettings } from './messages.ts';

/**
 * Lowers the priority of a slow thread before anything else is loaded; it still gets about a tenth of a core that others
 * want. Only on Linux, where each thread has a priority of its own: elsewhere it would be that of the whole process.
 */
if ((workerData as ThreadSettings).givesWay && process.platform === 'linux') {
  const id = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  setPriority(id, constants.priority.PRIORITY_BELOW_NORMAL);
}
