import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Node } from '../cluster/node.ts';
import { startRepeating } from './clients.ts';
import type { World } from './world.ts';

/** What a process holds: resident memory in MiB, sockets and threads; proc(5). */
export async function sampleProcess({ name, pid }: Pick<Node, 'name' | 'pid'>) {
  if (pid === undefined) throw new Error(`${name} does not run`);
  const status = await readFile(`/proc/${pid}/status`, 'latin1');
  const field = (label: string) => Number(new RegExp(`^${label}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  const descriptors = await readdir(`/proc/${pid}/fd`);
  // One that has been closed meanwhile leads nowhere.
  const targets = await Promise.all(descriptors.map((one) => readlink(`/proc/${pid}/fd/${one}`).catch(() => '')));
  const sockets = targets.filter((target) => target.startsWith('socket:')).length;
  return { pid, memory: field('VmRSS') / 1024, sockets, threads: field('Threads') };
}

/** Measures the resident memory of a process, in MiB, ten times a second until it is stopped. */
export function watchMemory(node: Pick<Node, 'name' | 'pid'>, onSample?: (memory: number) => void) {
  const seen: number[] = [];
  const watching = startRepeating(1, async () => {
    const { memory } = await sampleProcess(node);
    seen.push(memory);
    onSample?.(memory);
    await wait(100);
  });
  return {
    async stop() {
      await watching.stop();
      // Afterwards: the least that was measured of late
      return { before: seen[0] ?? 0, peak: Math.max(...seen), after: Math.min(...seen.slice(-5)) };
    },
  };
}

/** How much more than before each gateway may hold: memory in MiB, at its peak and afterwards, and sockets afterwards. */
interface Margins {
  peak?: number;
  after?: number;
  sockets?: number;
}

export async function watchGateways(world: World, margins: Margins) {
  const { report, until } = world;
  const { peak = Infinity, after = Infinity, sockets = Infinity } = margins;
  const gateways = world.of('proxy-gateway');
  const countSockets = () => Promise.all(gateways.map(async (one) => (await sampleProcess(one)).sockets));
  const before = await countSockets();
  const memories = gateways.map((one) => watchMemory(one));
  const tooMany = (now: readonly number[]) => now.filter((count, at) => count > (before[at] ?? 0) + sockets);
  return {
    async judge() {
      // What is kept alive goes after four seconds.
      await until(async () => tooMany(await countSockets()).length === 0, 8000);
      const now = await countSockets();
      const memory = await Promise.all(memories.map((watching) => watching.stop()));
      const inWords = (one: (typeof memory)[number]) =>
        `${[one.before, one.peak, one.after].map((value) => value.toFixed(0)).join(' / ')} MiB`;
      report.figure('memory of gateways before / peak / after', memory.map(inWords).join(', '));
      report.figure('sockets of gateways before / after', `${before} / ${now}`);
      const grown = memory.filter((one) => one.peak > one.before + peak || one.after > one.before + after);
      report.failForEach(grown, (one) => `memory of a gateway went ${inWords(one)}`);
      report.failForEach(tooMany(now), (count) => `a gateway keeps ${count} sockets, before it were ${before}`);
    },
  };
}
