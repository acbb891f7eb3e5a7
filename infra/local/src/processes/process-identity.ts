import { readFileSync, readlinkSync } from 'node:fs';

/**
 * Tells a process from a later one that was given the same number: its start time, where the system shows it (Linux).
 * Undefined when no such process runs; one that has ended but was not waited for yet counts as gone.
 */
export function processIdentity(pid: number): string | undefined {
  if (process.platform !== 'linux') return ifRunning(() => process.kill(pid, 0)) ? 'running' : undefined;
  const stat = ifRunning(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  if (stat === undefined) return undefined;
  // proc(5): the second field, the name in parentheses, may hold spaces; state is the 3rd field, start time the 22nd.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

/** The folder in which a process works; undefined where it has gone or the system does not tell. */
export function workingFolder(pid: number): string | undefined {
  return ifRunning(() => readlinkSync(`/proc/${pid}/cwd`));
}

function ifRunning<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined; // it has gone, which is an answer
  }
}
