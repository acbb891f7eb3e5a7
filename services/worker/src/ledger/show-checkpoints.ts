import type { Database } from '@sluice/database';
import type { Witness } from './witness.ts';
import { listUnwitnessed, noteWitnessed } from './witnessed.queries.ts';

/** After this many consecutive failures the round ends, because the witness is at fault and not a checkpoint. */
const mostFailures = 5;

/**
 * A worker that is killed shows a checkpoint again. Each round begins after the last Tenant, so that refused
 * checkpoints block no others.
 */
export function showsCheckpoints(db: Database, witness: Witness, signal?: AbortSignal): () => Promise<void> {
  let after: string | undefined;

  return async () => {
    const failures: unknown[] = [];
    let failuresInARow = 0;
    for (const { tenantId, size, checkpoint } of startingAfter(after, await listUnwitnessed(db))) {
      if (signal?.aborted || failuresInARow === mostFailures) break;
      after = tenantId;
      try {
        await witness.take(checkpoint);
        await noteWitnessed(db, tenantId, size);
        failuresInARow = 0;
      } catch (error) {
        failures.push(error);
        failuresInARow += 1;
      }
    }
    if (failures.length > 0) {
      throw new Error(`The witness did not take ${failures.length} checkpoints`, { cause: failures[0] });
    }
  };
}

function startingAfter<T extends { tenantId: string }>(after: string | undefined, inOrder: readonly T[]): T[] {
  if (after === undefined) return [...inOrder];
  return [
    ...inOrder.filter(({ tenantId }) => tenantId > after),
    ...inOrder.filter(({ tenantId }) => tenantId <= after),
  ];
}
