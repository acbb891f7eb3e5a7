import { type DisclosureLog, disclosureSettings, openDisclosureLog } from '@sluice/audit';
import { type CacheLimits, type ChangeWriter, type CoherentCaches, openCoherence } from '@sluice/cache-coherence';
import { type KeyUses, openKeyUses } from '@sluice/credentials';
import {
  checkDatabase,
  connectAhead,
  connectDatabase,
  connectOwn,
  type Database,
  databaseSettings,
  poolState,
} from '@sluice/database';
import { redisSettings } from '@sluice/redis';
import {
  type Config as ConfigOf,
  httpSettings,
  measureDisclosures,
  measureKeyUses,
  measurePool,
  type Runtime,
} from '@sluice/service-runtime';
import { assembleVault, keyWrapperFrom, raiseIntegrityAlarms, type Vault, vaultSettings } from '@sluice/vault';

/** Use together with the vault's `vaultConditions`. */
export const storeSettings = {
  ...httpSettings,
  ...databaseSettings,
  ...redisSettings,
  ...vaultSettings,
  ...disclosureSettings,
  DATABASE_ON_SHARDS: {
    type: 'boolean',
    default: false,
    description: 'Whether the tables are distributed over Citus shards',
  },
} as const;

type StoreConfig = ConfigOf<{
  type: 'object';
  required: ['DATABASE_URL', 'REDIS_URL'];
  properties: typeof storeSettings;
}>;

export interface Stores {
  db: Database;
  /** For work that no Tenant's requests may delay. */
  own: Database;
  caches: CoherentCaches;
  changes: ChangeWriter;
  disclosures: DisclosureLog;
  keyUses: KeyUses;
  vault: Vault;
}

/** `service` names the lease; `cacheLimits` limit the cache of tokens. @throws {Error} that names the wrong setting. */
export async function openStores(
  config: StoreConfig,
  { log, stack, readiness, metrics, tracing }: Runtime,
  { service, cacheLimits }: { service: string; cacheLimits?: CacheLimits },
): Promise<Stores> {
  const keyWrapper = keyWrapperFrom(config, log);
  raiseIntegrityAlarms({ log, metrics, stack });
  const connecting = { stack, onError: (err: Error) => log.warn({ err }, 'Postgres closed a connection') };
  const db = connectDatabase(config, { ...connecting, isShared: true });
  const own = connectOwn(config, connecting);
  readiness.add('postgres', () => checkDatabase(own));
  measurePool(metrics, { size: config.DATABASE_POOL_SIZE, state: () => poolState(db) });
  await connectAhead(db, config);
  const coherence = { ...config, db, own, service, log, metrics, stack, inPart: tracing?.inPart };
  const { caches, changes } = await openCoherence(coherence);
  const onError = (err: unknown) => log.error({ err }, 'disclosures wait');
  const disclosures = openDisclosureLog(config, { db: own, stack, onError });
  measureDisclosures(metrics, { limit: config.DISCLOSURE_QUEUE_LIMIT, state: disclosures.state });
  const noteError = (err: unknown) => log.warn({ err }, 'uses of keys were not written; they are kept and tried again');
  const keyUses = openKeyUses({ db: own, stack, onError: noteError });
  measureKeyUses(metrics, keyUses);
  const tokensOnShards = config.DATABASE_ON_SHARDS;
  const opened = { db, keyWrapper, caches, changes, disclosures, tokensOnShards };
  const vault = assembleVault({ ...opened, ...(cacheLimits && { cacheLimits }) });
  return { db, own, caches, changes, disclosures, keyUses, vault };
}
