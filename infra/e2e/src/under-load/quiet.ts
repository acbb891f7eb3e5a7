import { type Client, underWay } from '../coherence/client.ts';
import type { Invocation } from '../coherence/history.ts';
import type { World } from './world.ts';

const mostMs = 60_000;
const pauseMs = 100;

/** What invocations with a valid or a revoked key are answered. */
const honest = new Set(['200', '401', '404']);

type Watched = Pick<World, 'pause'> & { client: Pick<Client, 'history'> };

/**
 * Waits until nothing has failed for so long: every invocation in that time was answered, and every change of a key
 * confirmed. A busy machine may need longer for that.
 * @returns since when nothing has failed, or undefined if something failed again and again for a minute.
 */
export async function untilQuiet({ client, pause }: Watched, ms: number): Promise<number | undefined> {
  const startedAt = performance.now();
  while (performance.now() < startedAt + ms + mostMs) {
    await pause(pauseMs);
    const since = performance.now() - ms;
    if (since < startedAt) continue;
    const { invocations, regenerations, singleKeyChanges } = client.history();
    const changes = [...regenerations, ...singleKeyChanges];
    const isQuiet =
      invocations.every((one) => isFineSince(since, one)) &&
      changes.every(({ endedAt, outcome }) => endedAt < since || outcome === 'confirmed');
    if (isQuiet) return since;
  }
  return undefined;
}

function isFineSince(since: number, { startedAt, endedAt, detail }: Invocation): boolean {
  return detail === underWay ? startedAt > since : endedAt < since || honest.has(detail);
}
