import { openTransformPool, type TransformPool, transformLimitsFrom, type transformSettings } from '@sluice/sandbox';
import type { Config } from '../config.ts';

type TrialConfig = Pick<
  Config,
  keyof typeof transformSettings | 'TRANSFORM_TEST_THREADS' | 'TRANSFORM_TEST_QUEUE_LIMIT' | 'HEADER_PREFIX'
>;

/** A separate pool, so that trials never delay changes of Proxies. It starts with the first trial. */
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
