import { defaultTransformLimits, openTransformPool, type TransformPool } from '@sluice/sandbox';

/** Code is judged by its processor time. This only ends what hangs, because honest code may wait on a busy machine. */
const wallMs = 30_000;

/** One Tenant holds one of the two threads at most, because code can be written whose parsing takes long. */
export function openCompiler(
  config: { HEADER_PREFIX: string },
  stack: AsyncDisposableStack,
  limits = { ...defaultTransformLimits, wallMs },
): Pick<TransformPool, 'compile' | 'ready'> {
  const pool = openTransformPool({ limits, threads: 2, queueLimit: 100, headerPrefix: config.HEADER_PREFIX });
  stack.defer(() => pool.close());
  return pool;
}
