import type { TransformLimits } from '../limits.ts';

export interface Budget {
  /** The limit that is reached, or would be after `aheadMs` more of work. */
  exceeded(aheadMs?: number): 'cpuMs' | 'wallMs' | undefined;
  cpuMs(): number;
  wallMs(): number;
  wallLeftMs(): number;
}

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
      // A thread cannot use more CPU time than passes, so most calls need no system call.
      const elapsed = wallMs() + aheadMs;
      if (elapsed < shortest) return undefined;
      if (cpuMs() + aheadMs >= limits.cpuMs) return 'cpuMs';
      return elapsed >= limits.wallMs ? 'wallMs' : undefined;
    },
  };
}

export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
