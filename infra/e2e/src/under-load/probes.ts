import { setTimeout as wait } from 'node:timers/promises';
import type { Node } from '../cluster/node.ts';
import { keyedRequest, otherNumber, revealing } from '../coherence/client.ts';
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

export interface Probes {
  /** What was seen so far, in no order. */
  seen: readonly Probed[];
  /** Presents a key to a gateway or a token vault once. */
  probe(key: string, target: Node): Promise<Probed>;
  /** Presents it to each of the targets in turn, again and again, until the moment or the stop. */
  start(key: string, targets: readonly Node[], untilMs?: number): void;
  /** Resolves when every one has its last answer. */
  stop(): Promise<void>;
  /** Resolves when those whose moment is set have come to it. */
  done(): Promise<void>;
}

const patienceMs = 5000;
const pauseMs = 60;

/** Invocations with keys that nobody regenerates. They carry no token. */
export function openProbes({ http, client }: World): Probes {
  const stopping = new AbortController();
  const seen: Probed[] = [];
  const running: Promise<void>[] = [];

  async function probe(key: string, target: Node): Promise<Probed> {
    const number = otherNumber();
    const presented = { apiKey: key, proxyKey: client.proxyKey, number, traceId: `probe${number}` };
    const request = { ...keyedRequest(target, presented), body: {}, timeoutMs: patienceMs };
    const startedAt = performance.now();
    const { detail, headers } = await http.send(request);
    const endedAt = performance.now();
    const probed = { target: target.name, startedAt, endedAt, detail, retryAfter: headers['retry-after'] };
    seen.push(probed);
    return probed;
  }

  async function repeat(key: string, targets: readonly Node[], untilMs: number): Promise<void> {
    for (let turn = 0; !stopping.signal.aborted && performance.now() < untilMs; turn++) {
      const target = targets[turn % targets.length];
      if (target) await probe(key, target);
      await wait(pauseMs);
    }
  }

  return {
    seen,
    probe,
    start(key, targets, untilMs = Number.POSITIVE_INFINITY) {
      running.push(repeat(key, targets, untilMs));
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
    async done() {
      await Promise.all(running);
    },
  };
}

/** An Application whose key is in no cache yet. */
export const createUnusedKey = ({ manage }: World, name: string) =>
  manage('POST', '/applications', { name, type: 'private', ...revealing('use', 'read', 'create') });

/** Uses a key that each gateway and token vault has in its cache, and that nobody changes, until the probes are stopped. */
export async function useCachedKey(world: World): Promise<Probes> {
  const { key } = await createUnusedKey(world, 'Cached');
  const probes = openProbes(world);
  const targets = [...world.of('proxy-gateway'), ...world.of('token-vault')];
  await Promise.all(targets.map((target) => probes.probe(key, target)));
  for (const target of targets) probes.start(key, [target]);
  return probes;
}
