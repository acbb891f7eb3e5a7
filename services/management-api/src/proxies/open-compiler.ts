import { openTransformPool, type TransformPool, transformLimitsFrom, type transformSettings } from '@sluice/sandbox';

export type CompilerConfig = Readonly<Record<keyof typeof transformSettings, number> & { HEADER_PREFIX: string }>;

/**
 * Code is limited by processor time. This limit only ends code that hangs, because honest code may wait for a busy
 * machine.
 */
const longestMs = 30_000;

/** A Tenant may use one of the two threads, because code can be written that takes long to parse. */
export function openCompiler(
  config: CompilerConfig,
  stack: AsyncDisposableStack,
  wallMs = longestMs,
): Pick<TransformPool, 'compile' | 'ready'> {
  const limits = { ...transformLimitsFrom(config), wallMs };
  const settings = { limits, threads: 2, keepsThreads: true, queueLimit: 100, headerPrefix: config.HEADER_PREFIX };
  const pool = openTransformPool(settings);
  stack.defer(() => pool.close());
  return pool;
}
