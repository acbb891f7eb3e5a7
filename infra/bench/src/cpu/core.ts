import { readFile } from 'node:fs/promises';

/** `USER_HZ` is 100 wherever Node runs. */
const nanosecondsOfTick = 1e7;

/** For how long a core was busy since the machine started, in nanoseconds (proc_stat(5)); NaN without such a core. */
export async function readCoreBusy(core: number): Promise<number> {
  const text = await readFile('/proc/stat', 'utf8');
  const ticks = new RegExp(`^cpu${core} (\\d+) (\\d+) (\\d+) `, 'm').exec(text)?.slice(1) ?? [];
  return ticks.length === 0 ? Number.NaN : nanosecondsOfTick * ticks.reduce((sum, part) => sum + Number(part), 0);
}
