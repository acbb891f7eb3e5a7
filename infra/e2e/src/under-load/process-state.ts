import { readdir, readFile, readlink } from 'node:fs/promises';
import type { Node } from '../cluster/node.ts';
import type { World } from './world.ts';

/** What a process held at a moment. */
export interface ProcessSample {
  pid: number;
  /** Resident memory, in MiB. */
  memory: number;
  /** With whatever else it has a descriptor of. */
  sockets: number;
  threads: number;
}

/** Reads what a process holds; proc(5). */
export async function sampleProcess({ name, pid }: Pick<Node, 'name' | 'pid'>): Promise<ProcessSample> {
  if (pid === undefined) throw new Error(`${name} does not run`);
  const status = await readFile(`/proc/${pid}/status`, 'latin1');
  const field = (label: string) => Number(new RegExp(`^${label}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  const descriptors = await readdir(`/proc/${pid}/fd`);
  return { pid, memory: field('VmRSS') / 1024, sockets: descriptors.length, threads: field('Threads') };
}

export const memoryOf = async (node: Pick<Node, 'name' | 'pid'>) => (await sampleProcess(node)).memory;

/** How many sockets a process has open. */
export async function socketsOf({ name, pid }: Node): Promise<number> {
  if (pid === undefined) throw new Error(`${name} does not run`);
  const descriptors = await readdir(`/proc/${pid}/fd`);
  // One that has been closed meanwhile leads nowhere.
  const targets = await Promise.all(descriptors.map((one) => readlink(`/proc/${pid}/fd/${one}`).catch(() => '')));
  return targets.filter((target) => target.startsWith('socket:')).length;
}

/** The sockets of each gateway once they are hardly more than before: what is kept alive goes after four seconds. */
export async function socketsOnceFreed({ of, pause }: World, before: readonly number[]): Promise<number[]> {
  const until = performance.now() + 8000;
  for (;;) {
    const now = await Promise.all(of('proxy-gateway').map(socketsOf));
    if (now.every((count, at) => count <= (before[at] ?? 0) + 3) || performance.now() > until) return now;
    await pause(250);
  }
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
