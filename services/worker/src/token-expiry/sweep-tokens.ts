import { deleteExpiredTokens, removeDueCvcs } from '@sluice/vault';
import type { Context } from '../context.ts';

type Sweeping = Pick<Context, 'db' | 'log'>;

/**
 * Deletes the tokens whose `expires_at` has come. They count as gone from that moment on, by the row; this only clears
 * them away.
 */
export async function sweepExpiredTokens({ db, log }: Sweeping): Promise<void> {
  const tokens = await inBatches(() => deleteExpiredTokens(db));
  if (tokens > 0) log.info({ tokens }, 'tokens expired');
}

/** Deletes the verification codes of cards that are due. They are not shown from that moment on, by the row. */
export async function sweepDueCvcs({ db, log }: Sweeping): Promise<void> {
  const cards = await inBatches(() => removeDueCvcs(db));
  if (cards > 0) log.info({ cards }, 'card verification codes removed');
}

/** Until a batch finds nothing; how many in all. */
async function inBatches(doBatch: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let done = await doBatch(); done > 0; done = await doBatch()) total += done;
  return total;
}
