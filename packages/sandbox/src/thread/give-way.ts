import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import type { ThreadSettings } from './messages.ts';

/**
 * Gets a third of what the main thread gets of a core that both want. The main thread serves all Tenants and works for a
 * short time, so it must not wait for transforms where there are few cores.
 */
const quickNiceness = 5;

/**
 * Lowers the priority of the thread before anything else is loaded; a slow one still gets a tenth of a core that others
 * want. Elsewhere than on Linux it would be the priority of the whole process.
 */
if (process.platform === 'linux') {
  const id = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  const { givesWay } = workerData as ThreadSettings;
  setPriority(id, givesWay ? constants.priority.PRIORITY_BELOW_NORMAL : quickNiceness);
}
