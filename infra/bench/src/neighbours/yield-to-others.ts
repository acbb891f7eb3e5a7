import { existsSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** Linux schedules the processes of each session as a group (sched(7)). */
const groupFile = '/proc/self/autogroup';

/** For a process that stands for another machine: it takes only what others leave of the core. */
export function yieldToOthers(): void {
  const { PRIORITY_LOW } = constants.priority;
  setPriority(PRIORITY_LOW);
  if (existsSync(groupFile)) writeFileSync(groupFile, String(PRIORITY_LOW));
}
