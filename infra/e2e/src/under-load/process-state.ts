import { readdir, readFile, readlink } from 'node:fs/promises';
import type { Node } from '../cluster/node.ts';

/** Resident memory of a process in MiB; proc(5). */
export async function memoryOf({ name, pid }: Pick<Node, 'name' | 'pid'>): Promise<number> {
  if (pid === undefined) throw new Error(`${name} does not run`);
  const status = await readFile(`/proc/${pid}/status`, 'latin1');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** How many sockets a process has open. */
export async function socketsOf({ name, pid }: Node): Promise<number> {
  if (pid === undefined) throw new Error(`${name} does not run`);
  const targets = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map(
      (descriptor) => readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => ''), // closed meanwhile
    ),
  );
  return targets.filter((target) => target.startsWith('socket:')).length;
}

export interface Watched {
  before: number;
  peak: number;
  /** The least that was measured of late. */
  after: number;
}

/** Measures ten times a second, until it is stopped. */
export function watchFigure(measure: () => Promise<number>): { stop(): Promise<Watched> } {
  const seen: number[] = [];
  let isStopped = false;
  const watching = (async () => {
    while (!isStopped) {
      seen.push(await measure());
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  watching.catch(() => undefined); // told by stop
  return {
    async stop() {
      isStopped = true;
      await watching;
      return { before: seen[0] ?? 0, peak: Math.max(...seen), after: Math.min(...seen.slice(-5)) };
    },
  };
}

export const inWords = ({ before, peak, after }: Watched, unit = '') =>
  `${[before, peak, after].map((value) => value.toFixed(0)).join(' / ')}${unit}`;
