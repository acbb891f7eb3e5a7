import { cacheLimitsFrom } from '@sluice/cache-coherence';
import { cacheCallers, createPepper } from '@sluice/credentials';
import { destinationPolicyFrom } from '@sluice/destination-policy';
import { listen, type Runtime, type Service } from '@sluice/service-runtime';
import { openStores } from '@sluice/vault';
import { budgetsFrom } from './budgets/budgets.ts';
import { newDecodings } from './budgets/decodings.ts';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import { type Destinations, namesOptionsFrom, openDestinations } from './destination/index.ts';
import { headerNamesFor } from './http/header-names.ts';
import { openLimits } from './limits/open-limits.ts';
import { createInvocationMetrics } from './observation/metrics.ts';
import { createGatewayServer } from './server/gateway-server.ts';
import { openTransforms } from './transforms/open-transforms.ts';

export async function start(config: Config, runtime: Runtime): Promise<Service> {
  const { log, stack, draining, metrics, tracing } = runtime;
  const cacheLimits = cacheLimitsFrom(config);
  const { db, caches, vault } = await openStores(config, runtime, { service: 'proxy-gateway', cacheLimits });
  const context: Context = {
    db,
    vault,
    callers: cacheCallers(db, caches, cacheLimits),
    proxies: caches.open('proxies', { ...cacheLimits, remembersAbsent: true }),
    transforms: openTransforms(config, { log, stack, metrics }),
    logsConsole: config.TRANSFORM_CONSOLE === 'redacted',
    ...openLimits(config, openDestinationsOf(config, stack), { log, stack, metrics }),
    budgets: budgetsFrom(config),
    decodings: newDecodings(),
    workPieces: vault.workPieces,
    pepper: createPepper(config.KEY_PEPPER),
    headerNames: headerNamesFor(config.HEADER_PREFIX),
    showsTiming: config.SERVER_TIMING === 'on',
    bodyLimitBytes: config.BODY_LIMIT_BYTES,
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    metrics: createInvocationMetrics(metrics),
    tracing,
    tellsDestinations: config.TRACE_CONTEXT_TO_DESTINATIONS,
    log,
  };
  const server = createGatewayServer(context, {
    clientHeadMs: config.CLIENT_HEAD_TIMEOUT_MS,
    clientIdleMs: config.CLIENT_IDLE_TIMEOUT_MS,
  });
  return { port: await listen(server, { host: config.HOST, port: config.PORT, stack, draining }) };
}

function openDestinationsOf(config: Config, stack: AsyncDisposableStack): Destinations {
  const destinations = openDestinations({
    policy: destinationPolicyFrom(config),
    names: namesOptionsFrom(config),
    caFile: config.DESTINATION_CA_FILE,
    headerPrefix: config.HEADER_PREFIX,
    headTimeoutMs: config.DESTINATION_HEAD_TIMEOUT_MS,
    connectTimeoutMs: config.DESTINATION_CONNECT_TIMEOUT_MS,
    keepAliveTimeoutMs: config.DESTINATION_KEEP_ALIVE_MS,
    maxConnectionsPerOrigin: config.DESTINATION_MAX_CONNECTIONS,
    maxWaitingPerOrigin: config.DESTINATION_MAX_WAITING,
    maxHeadBytes: config.DESTINATION_HEADER_BYTES,
    breakerFailures: config.DESTINATION_BREAKER_FAILURES,
    breakerOpenMs: config.DESTINATION_BREAKER_OPEN_MS,
  });
  stack.defer(() => destinations.close());
  return destinations;
}
