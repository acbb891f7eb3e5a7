import { openCoherence } from '@sluice/cache-coherence';
import { connectDatabase, databaseSettings } from '@sluice/database';
import { redisSettings } from '@sluice/redis';
import { type Config, serviceLogger } from '@sluice/service-runtime';
import { cachedDataKeys, keyWrapperFrom, type Rotation, vaultConditions, vaultSettings } from '@sluice/vault';
import { Registry } from 'prom-client';

export const configSchema = {
  type: 'object',
  required: ['DATABASE_URL', 'REDIS_URL'],
  allOf: vaultConditions,
  properties: { ...databaseSettings, ...redisSettings, ...vaultSettings },
} as const;

export type Keys = Omit<Rotation, 'signal' | 'report'>;

/** The command takes part in the cache protocol, as services do. */
export async function openKeys(config: Config<typeof configSchema>, stack: AsyncDisposableStack): Promise<Keys> {
  const log = serviceLogger({ service: 'keys', level: 'warn' }, { write: (line) => void process.stderr.write(line) });
  const keyWrapper = keyWrapperFrom(config, log);
  const onError = (err: Error) => log.warn({ err }, 'Postgres closed a connection');
  const db = connectDatabase(config, { stack, onError });
  const countingDb = connectDatabase({ ...config, DATABASE_POOL_SIZE: 1 }, { stack, onError, statementTimeoutMs: 0 });
  const metrics = new Registry();
  const { caches, changes } = await openCoherence({ ...config, db, service: 'keys', log, metrics, stack });
  return { db, countingDb, keyWrapper, changes, dataKeys: cachedDataKeys({ db, keyWrapper, caches }) };
}
