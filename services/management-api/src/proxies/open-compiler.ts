import { defaultTransformLimits, openTransformPool, type TransformPool } from '@sluice/sandbox';

/** Code is judged by its processor time; this only ends what hangs, because honest code may wait long on a busy machine. */
const wallMs = 30_000;

/** One thread is enough, because transforms are only parsed here. */
export function openCompiler(config: { HEADER_PREFIX: string }, stack: AsyncDisposableStack): TransformPool {
  const limits = { ...defaultTransformLimits, wallMs };
  const pool = openTransformPool({ limits, threads: 1, queueLimit: 100, headerPrefix: config.HEADER_PREFIX });
  stack.defer(() => pool.close());
  return pool;
}
