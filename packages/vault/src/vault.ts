import type { DisclosureLog } from '@sluice/audit';
import type { CacheLimits, ChangeWriter, CoherentCaches } from '@sluice/cache-coherence';
import type { Database } from '@sluice/database';
import { WorkPieces } from '@sluice/service-runtime';
import { cachedDataKeys, type DataKeys, type DataKeysOptions } from './keys/data-keys.ts';
import { TokenInserts } from './tokens/create/token-inserts.ts';
import { type StoredTokens, storedTokens } from './tokens/read/stored-tokens.ts';

export interface Vault {
  db: Database;
  dataKeys: DataKeys;
  tokens: StoredTokens;
  inserts: Pick<TokenInserts, 'insert' | 'insertWith'>;
  changes: ChangeWriter;
  disclosures: DisclosureLog;
  workPieces: Pick<WorkPieces, 'run' | 'turn'>;
  clock: () => Date;
}

export interface VaultOptions extends DataKeysOptions {
  caches: CoherentCaches;
  changes: ChangeWriter;
  cacheLimits?: CacheLimits;
  disclosures: DisclosureLog;
  tokensOnShards?: boolean;
  clock?: () => Date;
}

const defaultCacheLimits = { maxEntries: 10_000, maxBytes: 16 * 1024 * 1024 };

/** Reads nothing before the first use, and there is nothing to close. */
export function assembleVault(options: VaultOptions): Vault {
  const { db, caches, changes, disclosures, cacheLimits = defaultCacheLimits, clock = () => new Date() } = options;
  const tokens = storedTokens({ db, caches, clock }, cacheLimits);
  return {
    db,
    dataKeys: cachedDataKeys(options),
    tokens,
    inserts: new TokenInserts(db, { onShards: options.tokensOnShards ?? false }),
    changes,
    disclosures,
    workPieces: new WorkPieces(),
    clock,
  };
}
