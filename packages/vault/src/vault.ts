import type { DisclosureLog } from '@sluice/audit';
import type { Database } from '@sluice/database';
import { type DataKeys, type DataKeysOptions, openDataKeys } from './keys/data-keys.ts';

/** What the functions of this package work with; their first argument. */
export interface Vault {
  db: Database;
  dataKeys: DataKeys;
  disclosures: DisclosureLog;
  clock: () => Date;
}

export interface VaultOptions extends DataKeysOptions {
  /** Where reads that give plaintext away are noted before they answer. */
  disclosures: DisclosureLog;
  clock?: () => Date;
}

/** Opens the vault. Nothing is read before the first use, and there is nothing to close. */
export function openVault({ disclosures, clock = () => new Date(), ...options }: VaultOptions): Vault {
  return { db: options.db, dataKeys: openDataKeys(options), disclosures, clock };
}
