import type { Database } from '@sluice/database';
import { consistencyRanges, inclusionRanges } from '@sluice/ledger';
import { ServiceError, validationFailed } from '@sluice/problems';
import { findLeaf, findLedger, hashRanges, inOneMoment } from './ledger.queries.ts';

/** @throws {ServiceError} `not_found`, naming the setting, if no checkpoint is signed. */
export async function findCheckpoint(db: Database, tenantId: string): Promise<string> {
  const ledger = await findLedger(db, tenantId);
  if (!ledger?.checkpoint) throw notSigned();
  return ledger.checkpoint;
}

/** @throws {ServiceError} `not_found` if the row is not in the tree, or nothing is signed. */
export function proveRow(db: Database, tenantId: string, logId: string) {
  return inOneMoment(db, async (tx) => {
    const ledger = await findLedger(tx, tenantId);
    if (!ledger?.checkpoint) throw notSigned();
    const leaf = await findLeaf(tx, tenantId, logId);
    if (!leaf || leaf.leaf_index < ledger.dropped) {
      throw new ServiceError('not_found', `Row ${logId} is not in the ledger; a new row is added within two seconds`);
    }
    const proof = await hashRanges(tx, tenantId, inclusionRanges(leaf.leaf_index, ledger.size));
    return {
      leaf_index: leaf.leaf_index,
      tree_size: ledger.size,
      leaf_hash: leaf.leaf_hash.toString('hex'),
      hashes: proof.map(toBase64),
      checkpoint: ledger.checkpoint,
    };
  });
}

/** @throws {ServiceError} `validation_failed` for sizes that the ledger does not have, or whose rows were dropped. */
export function proveConsistency(db: Database, tenantId: string, { from, to }: { from: number; to: number }) {
  return inOneMoment(db, async (tx) => {
    const { size = 0, dropped = 0 } = (await findLedger(tx, tenantId)) ?? {};
    if (to > size) throw validationFailed({ to: [`must be at most ${size}, the size of the ledger`] });
    if (from < dropped)
      throw validationFailed({ from: [`must be at least ${dropped}, because retention dropped the rows before`] });
    if (from > to) throw validationFailed({ from: ['must be at most `to`'] });
    const proof = await hashRanges(tx, tenantId, consistencyRanges(from, to));
    return { from, to, hashes: proof.map(toBase64) };
  });
}

const toBase64 = (hash: Buffer) => hash.toString('base64');

function notSigned(): ServiceError {
  return new ServiceError(
    'not_found',
    'There is no signed checkpoint: the worker has no LEDGER_KEY, or the ledger has no rows yet',
  );
}
