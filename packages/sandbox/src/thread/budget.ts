import type { TransformLimits } from '../limits.ts';

/** Time that one invocation may still use. */
export interface Budget {
  /** Which limit is reached, if any; with `aheadMs`, whether it would be after so much work. */
  exceeded(aheadMs?: number): 'cpuMs' | 'wallMs' | undefined;
  cpuMs(): number;
  wallMs(): number;
  wallLeftMs(): number;
}

/** Counts from now: the CPU time of this thread, which is `cpuAtStart` where that is known, and the wall clock. */
export function startBudget(
  limits: Pick<TransformLimits, 'cpuMs' | 'wallMs'>,
  cpuAtStart: number = threadCpuMs(),
): Budget {
  const wallAtStart = performance.now();
  const shortest = Math.min(limits.cpuMs, limits.wallMs);
  const cpuMs = () => threadCpuMs() - cpuAtStart;
  const wallMs = () => performance.now() - wallAtStart;
  return {
    cpuMs,
    wallMs,
    wallLeftMs: () => limits.wallMs - wallMs(),
    exceeded: (aheadMs = 0) => {
      // A thread cannot have used more CPU time than has passed: most calls are spared the system call.
      const elapsed = wallMs() + aheadMs;
      if (elapsed < shortest) return undefined;
      if (cpuMs() + aheadMs >= limits.cpuMs) return 'cpuMs';
      return elapsed >= limits.wallMs ? 'wallMs' : undefined;
    },
  };
}

/** CPU time of this thread since it began. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
