import { defaultTransformLimits, openTransformPool, type TransformPool } from '@sluice/sandbox';

/** Code is judged by its processor time; this only ends what hangs, because honest code may wait long on a busy machine. */
const wallMs = 30_000;

/**
 * The threads in which the code of Proxies is parsed before it is stored. That takes milliseconds, but code can be written
 * that takes all of its CPU time; one Tenant holds one of the two threads at most, so that others are answered meanwhile.
 */
export function openCompiler(
  config: { HEADER_PREFIX: string },
  stack: AsyncDisposableStack,
  limits = { ...defaultTransformLimits, wallMs },
): Pick<TransformPool, 'compile' | 'ready'> {
  const pool = openTransformPool({ limits, threads: 2, queueLimit: 100, headerPrefix: config.HEADER_PREFIX });
  stack.defer(() => pool.close());
  return pool;
}
