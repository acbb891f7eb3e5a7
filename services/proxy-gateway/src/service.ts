import type { RequestListener } from 'node:http';
import { cacheLimitsFrom } from '@sluice/cache-coherence';
import { cacheCallers, readPepper } from '@sluice/credentials';
import { destinationPolicyFrom } from '@sluice/destination-policy';
import { hostsFrom, ownHostsFrom } from '@sluice/hosts';
import { listen, type Runtime, type Service } from '@sluice/service-runtime';
import { openStores } from '@sluice/stores';
import { codeMemoryFrom, openReactorPool, openTransforms } from './code/open-pools.ts';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import { type Destinations, namesOptionsFrom, openDestinations } from './destination/index.ts';
import { headerNamesFor } from './http/header-names.ts';
import { serveInvocations } from './invocation/serve.ts';
import { budgetsFrom } from './limits/budgets.ts';
import { Decodings } from './limits/decodings.ts';
import { openLimits } from './limits/open-limits.ts';
import { noteEndedTo } from './observation/ended.ts';
import { openInvocationCounts } from './observation/invocation-counts.ts';
import { openInvocationFeed } from './observation/invocation-feed.ts';
import { invocationMetrics } from './observation/metrics.ts';
import { measuredReactorPlaces } from './reactors/places.ts';
import { isForReactors, reactorAppOf } from './reactors/reactor-app.ts';
import { openRuns } from './reactors/runs/open-runs.ts';
import { createGatewayServer } from './server/gateway-server.ts';

export async function start(config: Config, runtime: Runtime): Promise<Service> {
  const { log, stack, draining, metrics, tracing } = runtime;
  const cacheLimits = cacheLimitsFrom(config);
  const { db, own, caches, vault, keyUses } = await openStores(config, runtime, {
    service: 'proxy-gateway',
    cacheLimits,
  });
  const code = { log, stack, metrics, memory: codeMemoryFrom(config) };
  const reactorPool = openReactorPool(config, code);
  const destinations = openDestinationsOf(config, stack);
  const shared: Omit<Context, 'runs' | 'runLimits'> = {
    db,
    vault,
    caches,
    callers: cacheCallers(db, caches, cacheLimits),
    proxies: caches.open('proxies', { ...cacheLimits, remembersAbsent: true }),
    transforms: openTransforms(config, code),
    reactors: caches.open('reactors', { ...cacheLimits, remembersAbsent: true }),
    reactorPool,
    reactorPlaces: measuredReactorPlaces(config.REACTOR_THREADS, { pool: reactorPool, metrics }),
    reactorWallMs: config.REACTOR_WALL_MS,
    logsConsole: config.TRANSFORM_CONSOLE === 'redacted',
    ...openLimits(config, destinations, { log, stack, metrics }),
    budgets: budgetsFrom(config),
    decodings: new Decodings(),
    workPieces: vault.workPieces,
    pepper: readPepper(config.KEY_PEPPER),
    keyUses,
    headerNames: headerNamesFor(config.HEADER_PREFIX),
    hostOf: hostsFrom(config, log),
    ownHosts: ownHostsFrom(config),
    showsTiming: config.SERVER_TIMING === 'on',
    bodyLimitBytes: config.BODY_LIMIT_BYTES,
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    metrics: invocationMetrics(metrics),
    noteEnded: noteEndedTo(
      openInvocationFeed(config, { log, stack, metrics }),
      openInvocationCounts({ db: own, log, stack, metrics }),
    ),
    tracing,
    tellsDestinations: config.TRACE_CONTEXT_TO_DESTINATIONS,
    log,
  };
  const context: Context = { ...shared, ...openRuns(config, { ...shared, own }, runtime) };
  const server = createGatewayServer(listenerOf(context, runtime), {
    clientHeadMs: config.CLIENT_HEAD_TIMEOUT_MS,
    clientIdleMs: config.CLIENT_IDLE_TIMEOUT_MS,
  });
  const port = await listen(server, { host: config.HOST, port: config.PORT, stack, draining });
  stack.defer(() => endCallsInTime(destinations, config.SHUTDOWN_TIMEOUT_MS));
  return { port };
}

/**
 * The server waits for its answers until the process is ended. Calls that take longer are given up before, because a
 * caller whose connection is cut would send its request again, and the destination may have acted on it. What is left
 * of the time is for response transforms.
 */
function endCallsInTime(destinations: Destinations, shutdownMs: number): void {
  setTimeout(() => destinations.endUnanswered(), (shutdownMs * 2) / 3).unref();
}

/** Requests for invocations go to them straight from the parser, because there is nothing to route. */
function listenerOf(context: Context, runtime: Runtime): RequestListener {
  const invocations = serveInvocations(context);
  const reactors = reactorAppOf(context, runtime);
  return (request, response) => (isForReactors(request, context) ? reactors : invocations)(request, response);
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
  });
  stack.defer(() => destinations.close());
  return destinations;
}
