import { setTimeout as wait } from 'node:timers/promises';
import type { Node } from '../cluster/node.ts';
import { repeating, startClients } from './clients.ts';

const intervalMs = 100;
const patienceMs = 400;

export type Balancer = ReturnType<typeof startBalancer>;

type State = 'ready' | 'silent' | 'away';

/** Asks each process for its readiness, ten times a second. */
export function startBalancer(nodes: readonly Node[], stack: AsyncDisposableStack) {
  const states = new Map<Node, State>(nodes.map((node) => [node, 'ready']));
  const watch = (node: Node) =>
    repeating(async () => {
      states.set(node, await ask(node));
      await wait(intervalMs);
    });
  stack.adopt(startClients(nodes.map(watch)), (watching) => watching.stop());
  return {
    /**
     * The ready processes of a service; if there are none, those that did not respond in time, which may only be slow;
     * otherwise all.
     */
    targets(service: Node['service']): readonly Node[] {
      const all = nodes.filter((node) => node.service === service);
      const being = (state: State) => all.filter((node) => states.get(node) === state);
      return [being('ready'), being('silent')].find(({ length }) => length > 0) ?? all;
    },
  };
}

async function ask({ adminUrl }: Node): Promise<State> {
  const signal = AbortSignal.timeout(patienceMs);
  try {
    const answer = await fetch(`${adminUrl}/readyz`, { signal });
    await answer.body?.cancel();
    return answer.ok ? 'ready' : 'away';
  } catch {
    return signal.aborted ? 'silent' : 'away'; // that it does not answer is what was asked
  }
}
