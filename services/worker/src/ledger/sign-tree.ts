import type { KeyObject } from 'node:crypto';
import { type Frontier, originOf, rootOf, signCheckpoint } from '@sluice/ledger';

export interface LedgerSigner {
  /** If undefined, nothing is signed. */
  privateKey: KeyObject | undefined;
  ledgerOrigin: string;
}

/** Null without a key, because the previous checkpoint is for another tree or another number of dropped rows. */
export function signTree(
  { privateKey, ledgerOrigin }: LedgerSigner,
  { tenantId, frontier, dropped }: { tenantId: string; frontier: Frontier; dropped: number },
): string | null {
  if (!privateKey) return null;
  const origin = originOf(ledgerOrigin, tenantId);
  return signCheckpoint({ origin, size: frontier.size, root: rootOf(frontier), dropped }, privateKey);
}
