import { apiPart, bodyBytesFrom, measureBodyBytes } from '@sluice/body-bytes';
import { cacheLimitsFrom } from '@sluice/cache-coherence';
import { cacheCallers, cacheEmbedders, readPepper } from '@sluice/credentials';
import { addressReader, hostsFrom, originOf } from '@sluice/hosts';
import { createHttpServer, problemCodes, requestLimits } from '@sluice/http-api';
import { listen, type Runtime, requestObserver, requestsInBatches, type Service } from '@sluice/service-runtime';
import { openStores } from '@sluice/stores';
import { appOf, operationNames } from './app.ts';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import { openPublicTokenLimits } from './public-tokens/public-token.limits.ts';

export async function start(config: Config, runtime: Runtime): Promise<Service> {
  const { log, stack, draining, metrics, tracing } = runtime;
  const cacheLimits = cacheLimitsFrom(config);
  const { db, caches, vault, keyUses } = await openStores(config, runtime, { service: 'token-vault', cacheLimits });
  const context: Context = {
    db,
    vault,
    caches,
    callers: cacheCallers(db, caches, cacheLimits),
    pepper: readPepper(config.KEY_PEPPER),
    keyUses,
    embeddersOf: cacheEmbedders(db, caches, cacheLimits),
    publicTokens: openPublicTokenLimits(config, runtime),
    log,
  };
  const observer = requestObserver({
    operations: operationNames,
    errorCodes: problemCodes,
    limits: requestLimits,
    metrics,
    tracing,
  });
  const bodyBytes = bodyBytesFrom(config, apiPart);
  measureBodyBytes(bodyBytes, metrics);
  const server = createHttpServer(
    requestsInBatches(
      appOf(context, {
        hostOf: hostsFrom(config, log),
        headerPrefix: config.HEADER_PREFIX,
        corsOrigins: config.CORS_ORIGINS,
        fieldsOrigin: config.FIELDS_HOST && originOf(config.FIELDS_HOST),
        addressOf: addressReader(config.TRUSTED_PROXIES),
        observer,
        bodyBytes,
      }),
    ),
  );
  return { port: await listen(server, { host: config.HOST, port: config.PORT, stack, draining }) };
}
