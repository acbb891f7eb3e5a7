import { openTransformPool, type TransformPool, transformLimitsFrom, type transformSettings } from '@sluice/sandbox';

export type CompilerConfig = Readonly<Record<keyof typeof transformSettings, number> & { HEADER_PREFIX: string }>;

/** Code is judged by its processor time. This only ends what hangs, because honest code may wait on a busy machine. */
const longestMs = 30_000;

/** One Tenant holds one of the two threads at most, because code can be written whose parsing takes long. */
export function openCompiler(
  config: CompilerConfig,
  stack: AsyncDisposableStack,
  wallMs = longestMs,
): Pick<TransformPool, 'compile' | 'ready'> {
  const limits = { ...transformLimitsFrom(config), wallMs };
  const pool = openTransformPool({ limits, threads: 2, queueLimit: 100, headerPrefix: config.HEADER_PREFIX });
  stack.defer(() => pool.close());
  return pool;
}
