import { openDisclosureLog } from '@sluice/audit';
import { cacheLimitsFrom, openCoherence } from '@sluice/cache-coherence';
import { cacheCallers, createPepper } from '@sluice/credentials';
import { connectDatabase, ping } from '@sluice/database';
import { createHttpServer } from '@sluice/http-api';
import { listen, type Runtime, type Service } from '@sluice/service-runtime';
import { createKeyWrapper, openVault } from '@sluice/vault';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import type { Context } from './context.ts';

/** Opens in order; what opens first closes last. */
export async function start(config: Config, { log, stack, readiness, metrics }: Runtime): Promise<Service> {
  const keyWrapper = createKeyWrapper(config, log);
  const db = connectDatabase(config, { stack, onError: (err) => log.warn({ err }, 'Postgres closed a connection') });
  readiness.add('postgres', () => ping(db));
  const disclosures = openDisclosureLog({ db, stack, onError: (err) => log.error({ err }, 'disclosures wait') });
  const { caches, changes } = await openCoherence({ ...config, db, service: 'token-vault', log, metrics, stack });
  const cacheLimits = cacheLimitsFrom(config);
  const context: Context = {
    db,
    vault: openVault({ db, keyWrapper, caches, changes, cacheLimits, disclosures }),
    callers: cacheCallers(db, caches, cacheLimits),
    pepper: createPepper(config.KEY_PEPPER),
    log,
  };
  const server = createHttpServer(
    createApp(context, { headerPrefix: config.HEADER_PREFIX, corsOrigins: config.CORS_ORIGINS }),
  );
  return { port: await listen(server, { host: config.HOST, port: config.PORT, stack }) };
}
