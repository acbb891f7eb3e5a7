import { LargeHeaps, openTransformPool, type TransformPool, transformLimitsFrom, WarmMemory } from '@sluice/sandbox';
import { type Logger, memoryLimit } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';
import type { Config } from '../config.ts';
import { measureCode } from './metrics.ts';

type TransformConfig = Pick<Config, Extract<keyof Config, `TRANSFORM_${string}`> | 'HEADER_PREFIX'>;

interface Surroundings {
  log: Logger;
  stack: AsyncDisposableStack;
  metrics: Registry;
  memory: CodeMemory;
}

/** Of transforms and reactors together, as parts of the process's memory limit. */
const warmPart = 1 / 6;
const largeHeapsPart = 1 / 6;
/** One for code that ends soon, and one for each of two Tenants whose code is slow or waits for destinations. */
const fewestLargeHeaps = 3;

type CodeMemory = ReturnType<typeof codeMemoryFrom>;

export function codeMemoryFrom({ TRANSFORM_WARM_BYTES: bytes, TRANSFORM_HEAP_BYTES: heapBytes }: TransformConfig) {
  return {
    warm: new WarmMemory(bytes || Math.floor(memoryLimit() * warmPart)),
    largeHeaps: new LargeHeaps(Math.max(Math.floor((memoryLimit() * largeHeapsPart) / heapBytes), fewestLargeHeaps)),
  };
}

export function openTransforms(config: TransformConfig, { log, stack, metrics, memory }: Surroundings): TransformPool {
  const transforms = openTransformPool({
    ...optionsFrom(config),
    threads: config.TRANSFORM_THREADS,
    keepsThreads: true,
    ...memory,
    queueLimit: config.TRANSFORM_QUEUE_LIMIT,
    onSuspend: ({ tenantId, ownerId, kind }) =>
      log.warn({ tenant_id: tenantId, proxy_id: ownerId, transform: kind }, 'a transform is suspended'),
    onFault: (error) => log.error({ err: error }, 'a transform thread broke and was replaced'),
  });
  stack.defer(() => transforms.close());
  measureCode('transform', transforms, metrics);
  return transforms;
}

type ReactorConfig = TransformConfig & Pick<Config, 'REACTOR_THREADS' | 'REACTOR_WALL_MS'>;

/** How long a run that has a place waits for a thread, while one that was ended is being replaced. */
const reactorWaitMs = 5000;

/** Separate threads for code that may wait for destinations, so that transforms never wait for it. */
export function openReactorPool(config: ReactorConfig, { log, stack, metrics, memory }: Surroundings): TransformPool {
  const reactors = openTransformPool({
    ...optionsFrom(config),
    limits: { ...transformLimitsFrom(config), wallMs: config.REACTOR_WALL_MS },
    threads: config.REACTOR_THREADS,
    startsLater: true,
    ...memory,
    everyRunHasSlot: true, // by ReactorPlaces
    queueLimit: config.REACTOR_THREADS,
    waitMs: reactorWaitMs,
    onSuspend: ({ tenantId, ownerId }) =>
      log.warn({ tenant_id: tenantId, reactor_id: ownerId }, 'a reactor is suspended'),
    onFault: (error) => log.error({ err: error }, 'a reactor thread broke and was replaced'),
  });
  stack.defer(() => reactors.close());
  measureCode('reactor', reactors, metrics);
  return reactors;
}

function optionsFrom(config: TransformConfig) {
  return {
    headerPrefix: config.HEADER_PREFIX,
    limits: transformLimitsFrom(config),
    suspension: {
      kills: config.TRANSFORM_BREAKER_KILLS,
      windowMs: config.TRANSFORM_BREAKER_WINDOW_MS,
      suspendMs: config.TRANSFORM_BREAKER_OPEN_MS,
    },
  };
}
