import { setTimeout as wait } from 'node:timers/promises';
import type { Node } from '../cluster/node.ts';
import { keyedRequest, otherNumber, revealing } from '../coherence/client.ts';
import { type Clients, startClients } from './clients.ts';
import type { World } from './world.ts';

/** What became of one request. Moments are milliseconds of the test's own monotonic clock. */
export interface Probed {
  target: string;
  startedAt: number;
  endedAt: number;
  /** A status, or why there was none. */
  detail: string;
  retryAfter: string | undefined;
}

export interface Probing extends Clients {
  /** What was seen so far, in no order. */
  seen: readonly Probed[];
}

interface ProbingOptions {
  key: string;
  targets: readonly Node[];
  /** Between two invocations of one target. */
  pauseMs: number;
  untilMs: number;
}

const patienceMs = 5000;

/**
 * Presents a key that nobody regenerates to gateways and token vaults, to each again and again until the moment or the
 * stop. The invocations carry no token.
 */
export function startProbing(world: World, { key, targets, pauseMs, untilMs }: ProbingOptions): Probing {
  const seen: Probed[] = [];
  const probe = (target: Node) => async (signal: AbortSignal) => {
    while (!signal.aborted && performance.now() < untilMs) {
      const number = otherNumber();
      const presented = { apiKey: key, proxyKey: world.client.proxyKey, number, traceId: `probe${number}` };
      const request = { ...keyedRequest(target, presented), body: {}, timeoutMs: patienceMs };
      const startedAt = performance.now();
      const { detail, headers } = await world.http.send(request);
      const endedAt = performance.now();
      seen.push({ target: target.name, startedAt, endedAt, detail, retryAfter: headers['retry-after'] });
      await wait(pauseMs);
    }
  };
  return { seen, ...startClients(targets.map(probe)) };
}

/** An Application whose key is in no cache yet. */
export const createUnusedKey = ({ manage }: World, name: string) =>
  manage('POST', '/applications', { name, type: 'private', ...revealing('use', 'read', 'create') });

/** Uses a key that each gateway and token vault has in its cache, and that nobody changes, until it is stopped. */
export async function useCachedKey(world: World): Promise<Probing> {
  const { key } = await createUnusedKey(world, 'Cached');
  const targets = [...world.of('proxy-gateway'), ...world.of('token-vault')];
  const probing = startProbing(world, { key, targets, pauseMs: 60, untilMs: Number.POSITIVE_INFINITY });
  const isSeenBy = ({ name }: Node) => probing.seen.some(({ target }) => target === name);
  await world.until(() => targets.every(isSeenBy), patienceMs);
  return probing;
}
