import { readdir, readFile } from 'node:fs/promises';

/** Times of the threads of a process in nanoseconds (Linux: Documentation/scheduler/sched-stats). */
export interface ThreadTimes {
  /** How long the main thread ran. */
  main: number;
  /** How long it was runnable but waited for its core. */
  mainWaited: number;
  /** How long the other living threads ran. */
  others: number;
}

export async function readThreadTimes(pid: number): Promise<ThreadTimes> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(threads.map((thread) => readTimes(`/proc/${pid}/task/${thread}/schedstat`)));
  const main = times[threads.indexOf(String(pid))];
  if (!main) throw new Error(`The kernel does not tell the times of process ${pid}`);
  const all = times.reduce((sum, { ran }) => sum + ran, 0);
  return { main: main.ran, mainWaited: main.waited, others: all - main.ran };
}

async function readTimes(file: string): Promise<{ ran: number; waited: number }> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return '0 0'; // the thread has ended
    throw error;
  });
  const [ran = 0, waited = 0] = text.split(' ').map(Number);
  return { ran, waited };
}

/**
 * The part of the time in which other processes had the core: the main thread waited longer than its own helpers ran.
 * It is underestimated where helpers ran on another core.
 */
export function partOfStrangers(before: ThreadTimes, after: ThreadTimes, seconds: number): number {
  const waited = after.mainWaited - before.mainWaited;
  const helped = after.others - before.others;
  return Math.max(0, waited - helped) / (seconds * 1e9);
}

/** `USER_HZ` is 100 wherever Node runs. */
const nanosecondsOfTick = 1e7;

/** For how long a core was busy since the machine started, in nanoseconds (proc_stat(5)); NaN without such a core. */
export async function readCoreBusy(core: number): Promise<number> {
  const text = await readFile('/proc/stat', 'utf8');
  const ticks = new RegExp(`^cpu${core} (\\d+) (\\d+) (\\d+) `, 'm').exec(text)?.slice(1) ?? [];
  return ticks.length === 0 ? Number.NaN : nanosecondsOfTick * ticks.reduce((sum, part) => sum + Number(part), 0);
}
