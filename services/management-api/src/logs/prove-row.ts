import type { Database } from '@sluice/database';
import { inclusionRanges } from '@sluice/ledger';
import { ServiceError } from '@sluice/problems';
import { findLeaf, findLedger, hashRanges } from './ledger.queries.ts';

/** The newest signed checkpoint. @throws {ServiceError} `not_found` where there is none, which names the setting. */
export async function findCheckpoint(db: Database, tenantId: string): Promise<string> {
  const ledger = await findLedger(db, tenantId);
  if (!ledger?.checkpoint) throw notSigned();
  return ledger.checkpoint;
}

/**
 * The proof that a row is in the tree of the newest checkpoint.
 * @throws {ServiceError} `not_found` where it is not, and where nothing is signed.
 */
export function proveRow(db: Database, tenantId: string, logId: string) {
  return db
    .transaction()
    .setIsolationLevel('repeatable read') // the checkpoint and the row are those of one moment
    .execute(async (tx) => {
      const ledger = await findLedger(tx, tenantId);
      if (!ledger?.checkpoint) throw notSigned();
      const leaf = await findLeaf(tx, tenantId, logId);
      if (!leaf || leaf.leaf_index < ledger.dropped) {
        throw new ServiceError(
          'not_found',
          `There is no row ${logId} in the ledger; a new one is there within two seconds`,
        );
      }
      const proof = await hashRanges(tx, tenantId, inclusionRanges(leaf.leaf_index, ledger.size));
      return {
        leaf_index: leaf.leaf_index,
        tree_size: ledger.size,
        leaf_hash: leaf.leaf_hash.toString('hex'),
        hashes: proof.map((hash) => hash.toString('base64')),
        checkpoint: ledger.checkpoint,
      };
    });
}

function notSigned(): ServiceError {
  return new ServiceError(
    'not_found',
    'There is no signed checkpoint: the worker has no LEDGER_KEY, or has sequenced no row yet',
  );
}
