import type { Node } from '../cluster/node.ts';
import type { Seen } from './judgement.ts';
import type { Disturbance } from './run-under-load.ts';

/**
 * Asks each process to end, and starts it again, as an orchestrator does; the next one when it is ready.
 * @param root the folder of the version of the product that is started; the same as before by default.
 */
export async function restartEach(nodes: readonly Node[], root?: string): Promise<Disturbance> {
  const endedAfterMs: string[] = [];
  const failures: string[] = [];
  for (const node of nodes) {
    const stoppedAt = performance.now();
    const code = await node.stop();
    endedAfterMs.push((performance.now() - stoppedAt).toFixed(0));
    if (code !== 0) failures.push(`${node.name} ended with ${code ?? 'a signal'}, not with 0`);
    await node.restart(root);
  }
  return { figures: [['processes ended after', `${endedAfterMs.join(', ')} ms`]], failures };
}

/** What clients of the management API and the token vault were told that was no success. */
export function unexpectedAnswers({ writes, history }: Seen): string[] {
  const writesThatFailed = [...writes.answers].filter(([status]) => status !== '201');
  const regenerations = history.regenerations.filter(({ outcome }) => outcome !== 'confirmed');
  return [
    ...writesThatFailed.map(([status, count]) => `${count} creations were answered ${status}`),
    ...regenerations.slice(0, 3).map(({ detail }) => `${regenerations.length} regenerations failed, such as ${detail}`),
  ];
}
