import { setTimeout as wait } from 'node:timers/promises';
import type { Node } from '../cluster/node.ts';
import { revealing } from '../coherence/client.ts';
import { startClients } from './clients.ts';
import type { Answered } from './count.ts';
import type { World } from './world.ts';

export interface Probed extends Answered {
  target: string;
  retryAfter: string | undefined;
}

export type Probing = ReturnType<typeof startProbing>;

interface ProbingOptions {
  key: string;
  targets: readonly Node[];
  pauseMs: number;
  untilMs: number;
}

const patienceMs = 5000;

/**
 * Presents a key that nobody regenerates to gateways and token vaults, to each again and again until the moment or the
 * stop. The invocations carry no token.
 */
export function startProbing(world: World, { key, targets, pauseMs, untilMs }: ProbingOptions) {
  const seen: Probed[] = [];
  const probe = (target: Node) => async (signal: AbortSignal) => {
    while (!signal.aborted && performance.now() < untilMs) {
      const presented = { key, proxyKey: world.client.proxyKey, timeoutMs: patienceMs };
      const { startedAt, endedAt, detail, headers } = await world.invoke(target, presented);
      seen.push({ target: target.name, startedAt, endedAt, detail, retryAfter: headers['retry-after'] });
      await wait(pauseMs);
    }
  };
  return {
    seen,
    ...startClients(targets.map(probe)),
  };
}

/** An Application whose key is in no cache yet. */
export const createUnusedKey = ({ createApplication }: World, name: string) =>
  createApplication(name, revealing('use', 'read', 'create'));

/** Uses a key that each gateway and token vault has in its cache, and that nobody changes, until it is stopped. */
export async function useCachedKey(world: World): Promise<Probing> {
  const { key } = await createUnusedKey(world, 'Cached');
  const targets = world.of('proxy-gateway', 'token-vault');
  const probing = startProbing(world, { key, targets, pauseMs: 60, untilMs: Number.POSITIVE_INFINITY });
  const isSeenBy = ({ name }: Node) => probing.seen.some(({ target }) => target === name);
  await world.until(() => targets.every(isSeenBy), patienceMs);
  return probing;
}
