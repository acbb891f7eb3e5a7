import { spawnSync } from 'node:child_process';
import { existsSync, readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import type { ThreadSettings } from './messages.ts';

/** Where util-linux is; threads have nothing of the process's environment. */
const path = '/usr/local/bin:/usr/bin:/bin';

/**
 * Before anything else is loaded: how the system schedules this thread. Linux has that for each thread, and a thread
 * without privileges never gets a lower priority back. Other systems have one priority for the process, and there the
 * thread keeps it.
 *
 * A thread that gives way still gets a tenth or so of a core that others want. The others are SCHED_BATCH (sched(7)):
 * when one is woken it does not interrupt who has the core, which often is the main thread that woke it. Where there is
 * no chrt it does, at the cost of throughput (infra/bench/README.md).
 */
if (process.platform === 'linux' && existsSync('/proc/thread-self')) {
  const id = readlinkSync('/proc/thread-self').split('/').at(-1) ?? '';
  if ((workerData as ThreadSettings).givesWay) setPriority(Number(id), constants.priority.PRIORITY_BELOW_NORMAL);
  else spawnSync('chrt', ['-b', '-p', '0', id], { env: { PATH: path }, stdio: 'ignore', timeout: 1_000 });
}
