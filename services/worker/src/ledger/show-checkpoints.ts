import type { Database } from '@sluice/database';
import { listUnwitnessed, noteWitnessed } from './ledger.queries.ts';
import type { Witness } from './witness.ts';

/** So many failures in a row say that it is the witness, and not one of the checkpoints, that is at fault. */
const mostFailures = 5;

/**
 * A round that shows the witness the newest checkpoint of each Tenant that it does not have. It is noted as shown when the
 * witness has taken it, so a worker that is killed in between shows it again, and none is left out. Each round begins behind
 * the Tenant that the one before ended with: checkpoints that are refused hold up no others.
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

/** The same in a circle, which begins behind this Tenant. */
function startingAfter<T extends { tenantId: string }>(after: string | undefined, inOrder: readonly T[]): T[] {
  if (after === undefined) return [...inOrder];
  return [
    ...inOrder.filter(({ tenantId }) => tenantId > after),
    ...inOrder.filter(({ tenantId }) => tenantId <= after),
  ];
}
