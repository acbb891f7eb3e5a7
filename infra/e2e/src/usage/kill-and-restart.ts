import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Stack } from '@sluice/local';
import type { Random } from '../random.ts';

export interface KillOptions {
  random: Random;
  names: readonly string[];
  /** How many kills there are at most, and how long until there is no other; each process is killed once all the same. */
  most: number;
  withinMs: number;
}

/** Kills processes with SIGKILL, one after another at random moments, and starts each again. How often each was killed. */
export async function killAndRestart(stack: Stack, options: KillOptions): Promise<Map<string, number>> {
  const { random, names, most, withinMs } = options;
  const endsAt = performance.now() + withinMs;
  const kills = new Map(names.map((name) => [name, 0]));
  for (let i = 0; i < most && (i < names.length || performance.now() < endsAt); i++) {
    await wait(random.between(100, 900));
    // Each of them in turn at first, so that none is left out.
    const name = names[i] ?? random.pick(names);
    const child = stack.processes.get(name);
    if (!child) throw new Error(`There is no process ${name}`);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    kills.set(name, (kills.get(name) ?? 0) + 1);
    await stack.restart(name);
  }
  return kills;
}
