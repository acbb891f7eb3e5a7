import { openDisclosureLog } from '@sluice/audit';
import { cacheLimitsFrom, openCoherence } from '@sluice/cache-coherence';
import { cacheCallers, createPepper } from '@sluice/credentials';
import { checkDatabase, connectDatabase, openAhead, poolState } from '@sluice/database';
import { createHttpServer, operationName, problemCodes } from '@sluice/http-api';
import {
  createRequestObserver,
  listen,
  measureDisclosures,
  measurePool,
  type Runtime,
  requestsInBatches,
  type Service,
} from '@sluice/service-runtime';
import { createKeyWrapper, openVault, raiseIntegrityAlarms } from '@sluice/vault';
import { createApp, operations } from './app.ts';
import type { Config } from './config.ts';
import type { Context } from './context.ts';

/** Opens in order; what opens first closes last. */
export async function start(
  config: Config,
  { log, stack, readiness, draining, metrics, tracing }: Runtime,
): Promise<Service> {
  const keyWrapper = createKeyWrapper(config, log);
  raiseIntegrityAlarms({ log, metrics, stack });
  const db = connectDatabase(config, { stack, onError: (err) => log.warn({ err }, 'Postgres closed a connection') });
  readiness.add('postgres', () => checkDatabase(db));
  measurePool(metrics, { size: config.DATABASE_POOL_SIZE, state: () => poolState(db) });
  await openAhead(db, config);
  const disclosures = openDisclosureLog(config, {
    db,
    stack,
    onError: (err) => log.error({ err }, 'disclosures wait'),
  });
  measureDisclosures(metrics, { limit: config.DISCLOSURE_QUEUE_LIMIT, state: disclosures.state });
  const inPart = tracing?.inPart;
  const { caches, changes } = await openCoherence({
    ...config,
    db,
    service: 'token-vault',
    log,
    metrics,
    stack,
    inPart,
  });
  const cacheLimits = cacheLimitsFrom(config);
  const context: Context = {
    db,
    vault: openVault({ db, keyWrapper, caches, changes, cacheLimits, disclosures }),
    callers: cacheCallers(db, caches, cacheLimits),
    pepper: createPepper(config.KEY_PEPPER),
    log,
  };
  const observer = createRequestObserver({
    operations: operations.map(operationName),
    errorCodes: problemCodes,
    metrics,
    tracing,
  });
  const server = createHttpServer(
    requestsInBatches(
      createApp(context, { headerPrefix: config.HEADER_PREFIX, corsOrigins: config.CORS_ORIGINS, observer }),
    ),
  );
  return { port: await listen(server, { host: config.HOST, port: config.PORT, stack, draining }) };
}
