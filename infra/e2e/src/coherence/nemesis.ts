import { setTimeout as wait } from 'node:timers/promises';
import { type Clients, repeating, startClients } from '../under-load/clients.ts';
import type { World } from '../under-load/world.ts';
import { actions } from './nemesis-actions.ts';

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
  const any = [...holders, ...writers];
  const victims = { holder: holders, writer: writers, 'any node': any, redis: holders, postgres: holders };

  function hand(number: number) {
    const random = world.random(3000 + number);
    return repeating(async () => {
      await wait(random.between(0, longestPauseMs));
      const action = random.pick(deck);
      const node = random.pick(victims[action.on]);
      const target = action.on === 'redis' || action.on === 'postgres' ? action.on : node.name;
      if (busy.has(target) || (action.kills && !mayKill(node.name))) return;
      busy.add(target);
      const fault = { name: action.name, target, startedAt: performance.now(), endedAt: Infinity };
      world.faults.push(fault);
      await action.run({ site: world, random, node });
      fault.endedAt = performance.now();
      busy.delete(target);
    });
  }

  return startClients(Array.from({ length: hands }, (_, number) => hand(number)));
}

const deck = actions.flatMap((action) => Array.from({ length: action.weight }, () => action));
