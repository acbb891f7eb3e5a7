import { readFile, writeFile } from 'node:fs/promises';

/** Resident memory now, or at its peak, in MiB, as the kernel counts it. */
export async function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  if (kilobytes === undefined) throw new Error(`The kernel does not tell ${field} of process ${pid}`);
  return Number(kilobytes) / 1024;
}

/** Resets `VmHWM`, which then gives the peak since this call (proc_pid_clear_refs(5)). */
export async function resetPeakMemory(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
}

/** Processor time of a process with all its threads, in seconds (proc_pid_stat(5)). */
export async function cpuSecondsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before it may have spaces
  const [userTicks, systemTicks] = [Number(fields[11]), Number(fields[12])];
  return (userTicks + systemTicks) / 100; // USER_HZ is 100 wherever Node runs
}
