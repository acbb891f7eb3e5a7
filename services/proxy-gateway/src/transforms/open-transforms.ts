import { openTransformPool, type TransformPool, transformLimitsFrom } from '@sluice/sandbox';
import type { Config as ConfigOf, Logger } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';
import { measureTransforms } from './metrics.ts';
import type { transformSettings } from './transform-settings.ts';

type TransformConfig = ConfigOf<{ type: 'object'; properties: typeof transformSettings }> & { HEADER_PREFIX: string };

export function openTransforms(
  config: TransformConfig,
  { log, stack, metrics }: { log: Logger; stack: AsyncDisposableStack; metrics: Registry },
): TransformPool {
  const transforms = openTransformPool({
    threads: config.TRANSFORM_THREADS,
    queueLimit: config.TRANSFORM_QUEUE_LIMIT,
    headerPrefix: config.HEADER_PREFIX,
    limits: transformLimitsFrom(config),
    suspension: {
      kills: config.TRANSFORM_BREAKER_KILLS,
      windowMs: config.TRANSFORM_BREAKER_WINDOW_MS,
      suspendMs: config.TRANSFORM_BREAKER_OPEN_MS,
    },
    onSuspend: ({ tenantId, proxyId, kind }) =>
      log.warn({ tenant_id: tenantId, proxy_id: proxyId, transform: kind }, 'a transform is suspended'),
    onFault: (error) => log.error({ err: error }, 'a transform thread broke and was replaced'),
  });
  stack.defer(() => transforms.close());
  measureTransforms(transforms, metrics);
  return transforms;
}
