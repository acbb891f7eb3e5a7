import { apiPart, bodyBytesFrom, measureBodyBytes } from '@sluice/body-bytes';
import { readCallers, readPepper, watchCaller } from '@sluice/credentials';
import { destinationPolicyFrom } from '@sluice/destination-policy';
import { addressReader, hostsFrom, originOf } from '@sluice/hosts';
import { createHttpServer, problemCodes, requestLimits, Streams } from '@sluice/http-api';
import { FeedStore } from '@sluice/invocation-feed';
import { openJobs } from '@sluice/redis/jobs';
import { openTransformPool, type TransformPool, transformLimitsFrom } from '@sluice/sandbox';
import {
  exportGauge,
  type Logger,
  listen,
  type Runtime,
  requestObserver,
  requestsInBatches,
  type Service,
} from '@sluice/service-runtime';
import { openStores } from '@sluice/stores';
import { appOf, operationNames } from './app.ts';
import type { Config } from './config.ts';
import { consoleUrlOf } from './console/console-url.ts';
import type { Context } from './context.ts';
import { ledgerKeyAnswer } from './logs/ledger-key.ts';
import { exportTurnsFrom } from './logs/log-export.ts';
import { issuersFrom } from './people/issuers/issuers.ts';
import { openFailedSignIns } from './people/sign-ins/failed-sign-ins.ts';
import { openCompiler } from './proxies/open-compiler.ts';
import { measureSessionLimits } from './sessions/session.limits.ts';
import { TenantQueue } from './sessions/tenant-queue.ts';

export async function start(config: Config, runtime: Runtime): Promise<Service> {
  const { log, stack, draining, metrics, tracing } = runtime;
  const { db, caches, changes, vault, keyUses } = await openStores(config, runtime, { service: 'management-api' });
  const context: Context = {
    db,
    jobs: openJobs({
      redisUrl: config.REDIS_URL,
      stack,
      onError: (err) => log.debug({ err }, 'job queue'),
      ...(tracing && { traceparent: () => tracing.current()?.traceparent }),
    }),
    vault,
    transforms: openCompiler(config, stack),
    trials: openTrials(config, stack),
    destinationPolicy: destinationPolicyFrom(config),
    pepper: readPepper(config.KEY_PEPPER),
    keyUses,
    keyEnvironment: config.KEY_ENVIRONMENT,
    headerPrefix: config.HEADER_PREFIX,
    sessionLimits: config,
    sessionFigures: { ended: 0, refused: 0 },
    sessionQueues: {
      making: new TenantQueue(config.TENANT_MAX_SESSION_CALLS),
      authorizing: new TenantQueue(config.TENANT_MAX_SESSION_CALLS),
    },
    exportTurns: exportTurnsFrom(config),
    feed: new FeedStore(config.REDIS_URL, { log, stack }),
    failedSignIns: openFailedSignIns(config, runtime),
    consoleUrl: consoleUrlOf(config.CONSOLE_HOST),
    issuers: issuersFrom(config, log),
    linkSignIn: config.CONSOLE_LINK_SIGN_IN,
    log,
    changes,
    callers: readCallers(db),
  };
  measureSessionLimits(metrics, context.sessionFigures);
  warnOfAddresses(config, log);
  const observer = requestObserver({
    operations: operationNames,
    errorCodes: problemCodes,
    limits: requestLimits,
    metrics,
    tracing,
  });
  const streams = new Streams(config, (caller, onChange) => watchCaller(caches, caller, onChange));
  exportGauge(metrics, {
    name: 'sluice_streams',
    help: 'Open exports and event streams',
    read: () => streams.count(),
  });
  const bodyBytes = bodyBytesFrom(config, apiPart);
  measureBodyBytes(bodyBytes, metrics);
  const server = createHttpServer(
    requestsInBatches(
      appOf(context, {
        hostOf: hostsFrom(config, log),
        headerPrefix: config.HEADER_PREFIX,
        baseUrl: config.BASE_URL,
        corsOrigins: config.CORS_ORIGINS,
        fieldsOrigin: config.FIELDS_HOST && originOf(config.FIELDS_HOST),
        addressOf: addressReader(config.TRUSTED_PROXIES),
        observer,
        streams,
        bodyBytes,
        publicAnswers: [ledgerKeyAnswer(config)],
      }),
    ),
  );
  const port = await listen(server, { host: config.HOST, port: config.PORT, stack, draining });
  stack.defer(() => streams.endAll());
  return { port };
}

/** A separate pool, so that trials never delay changes of Proxies. It starts with the first trial. */
function openTrials(config: Config, stack: AsyncDisposableStack): () => TransformPool {
  let pool: TransformPool | undefined;
  stack.defer(() => pool?.close());
  return () => {
    pool ??= openTransformPool({
      limits: transformLimitsFrom(config),
      threads: config.TRANSFORM_TEST_THREADS,
      queueLimit: config.TRANSFORM_TEST_QUEUE_LIMIT,
      headerPrefix: config.HEADER_PREFIX,
    });
    return pool;
  };
}

/**
 * Behind an ingress all clients share its address, so a flood from one of them would end everybody's waiting sessions.
 */
function warnOfAddresses({ TRUSTED_PROXIES }: Config, log: Logger): void {
  if (TRUSTED_PROXIES !== undefined) return;
  const advice =
    'set it to the networks of the proxies in front of this service, or to "none" if clients connect directly';
  log.warn(
    `TRUSTED_PROXIES is not set, so all waiting sessions may count as one network, and failed sign-ins are not limited by address; ${advice}`,
  );
}
