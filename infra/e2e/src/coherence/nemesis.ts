import { setTimeout as wait } from 'node:timers/promises';
import type { Node } from '../cluster/node.ts';
import { type Clients, startClients } from '../under-load/clients.ts';
import type { World } from '../under-load/world.ts';
import { type Action, actions } from './nemesis-actions.ts';

export interface NemesisOptions {
  /** Whether a process of that name may be killed; all may by default. */
  mayKill?: (name: string) => boolean;
}

const hands = 2;
const longestPauseMs = 500;

/**
 * Disturbs until it is stopped, and notes what it does. A seed repeats which faults follow each other in each hand, and
 * for how long.
 */
export function startNemesis(world: World, { mayKill = () => true }: NemesisOptions): Clients {
  const holders = world.of('proxy-gateway', 'token-vault');
  const writers = world.of('management-api');
  const busy = new Set<string>();
  const victims = { holder: holders, writer: writers, 'any node': [...holders, ...writers] };

  async function disturb(hand: number, signal: AbortSignal): Promise<void> {
    const random = world.random(3000 + hand);
    while (!signal.aborted) {
      await wait(random.between(0, longestPauseMs));
      const action = random.pick(deck);
      const node = random.pick(action.on === 'redis' || action.on === 'postgres' ? holders : victims[action.on]);
      const target = action.on === 'redis' || action.on === 'postgres' ? action.on : node.name;
      if (busy.has(target) || (action.kills && !mayKill(node.name))) continue;
      busy.add(target);
      const fault = {
        name: action.name,
        target,
        startedAt: performance.now(),
        endedAt: Infinity,
        hindersWriters: hinders(action, node),
      };
      world.faults.push(fault);
      await action.run({ site: world, random, node });
      fault.endedAt = performance.now();
      busy.delete(target);
    }
  }

  const working = Array.from({ length: hands }, (_, hand) => (signal: AbortSignal) => disturb(hand, signal));
  return startClients(working);
}

const deck = actions.flatMap((action) => Array.from({ length: action.weight }, () => action));

/** A server process that hangs may hold a lock; a writer without its Postgres waits for that. */
function hinders(action: Action, node: Node): boolean {
  return action.on === 'postgres' || node.service === 'management-api';
}
