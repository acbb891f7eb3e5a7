import { openTransformPool, type TransformPool, transformLimitsFrom, type transformSettings } from '@sluice/sandbox';

export const trialSettings = {
  TRANSFORM_TEST_THREADS: {
    type: 'integer',
    minimum: 1,
    maximum: 64,
    default: 2,
    description: 'Threads that try transforms; one Tenant holds all but one of them at most',
  },
  TRANSFORM_TEST_QUEUE_LIMIT: {
    type: 'integer',
    minimum: 0,
    default: 50,
    description: 'Most trials of transforms that wait for a thread',
  },
} as const;

type TrialConfig = Readonly<
  Record<keyof typeof transformSettings | keyof typeof trialSettings, number> & { HEADER_PREFIX: string }
>;

/** A pool of its own keeps trials from delaying changes of Proxies. It starts with the first trial, if any. */
export function openTrials(config: TrialConfig, stack: AsyncDisposableStack): () => TransformPool {
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
