import { setTimeout as wait } from 'node:timers/promises';
import type { Node } from '../cluster/node.ts';

const intervalMs = 100;
const patienceMs = 400;

export interface Balancer {
  /** Those of a service that said they are ready; all of them where none did, as balancers do. */
  targets(service: Node['service']): readonly Node[];
}

/** Asks each process for its readiness, ten times a second. */
export function startBalancer(nodes: readonly Node[], stack: AsyncDisposableStack): Balancer {
  const unready = new Set<Node>();
  const closing = new AbortController();
  const watch = async (node: Node) => {
    while (!closing.signal.aborted) {
      if (await isReady(node)) unready.delete(node);
      else unready.add(node);
      await wait(intervalMs);
    }
  };
  const watching = Promise.all(nodes.map(watch));
  stack.defer(async () => {
    closing.abort();
    await watching;
  });
  return {
    targets(service) {
      const all = nodes.filter((node) => node.service === service);
      const ready = all.filter((node) => !unready.has(node));
      return ready.length > 0 ? ready : all;
    },
  };
}

async function isReady({ adminUrl }: Node): Promise<boolean> {
  try {
    const answer = await fetch(`${adminUrl}/readyz`, { signal: AbortSignal.timeout(patienceMs) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false; // it does not answer: that is what was asked
  }
}
