import type { TransformLimits } from '../limits.ts';

/** Time that one invocation may still use. */
export interface Budget {
  /** Which limit is reached, if any. */
  exceeded(): 'cpuMs' | 'wallMs' | undefined;
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
    exceeded: () => {
      // A thread cannot have used more CPU time than has passed: most calls are spared the system call.
      const elapsed = wallMs();
      if (elapsed < shortest) return undefined;
      if (elapsed >= limits.wallMs) return 'wallMs';
      return cpuMs() >= limits.cpuMs ? 'cpuMs' : undefined;
    },
  };
}

/** CPU time of this thread since it began. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
