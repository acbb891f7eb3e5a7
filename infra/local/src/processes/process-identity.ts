import { readFileSync, readlinkSync } from 'node:fs';

/**
 * The start time of a process, where the system shows it (Linux), which distinguishes it from a later process with the
 * same number. Undefined when no such process runs; a zombie counts as ended.
 */
export function processIdentity(pid: number): string | undefined {
  if (process.platform !== 'linux') return ifRunning(() => process.kill(pid, 0)) ? 'running' : undefined;
  const status = readStatus(pid);
  return status?.state === 'Z' || status?.state === 'X' ? undefined : status?.startTime;
}

/** Undefined if the parent has ended, or the system does not show it. */
export function parentOf(pid: number): { pid: number; name: string } | undefined {
  const parent = readStatus(pid)?.parent;
  const status = parent === undefined ? undefined : readStatus(parent);
  return parent === undefined || status === undefined ? undefined : { pid: parent, name: status.name };
}

/** The name of a process's program; undefined if it has ended, or the system does not show it. */
export function nameOf(pid: number): string | undefined {
  return readStatus(pid)?.name;
}

/** proc(5), `/proc/pid/stat`: the 2nd field, the name in parentheses, may hold spaces; the start time is the 22nd. */
function readStatus(pid: number) {
  const stat = ifRunning(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  if (stat === undefined) return undefined;
  const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { name, state: fields[0], parent: Number(fields[1]), startTime: fields[19] };
}

/** The folder in which a process works; undefined if the process has ended, or the system does not show it. */
export function workingFolder(pid: number): string | undefined {
  return ifRunning(() => readlinkSync(`/proc/${pid}/cwd`));
}

function ifRunning<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined; // it has ended, which is an answer
  }
}
