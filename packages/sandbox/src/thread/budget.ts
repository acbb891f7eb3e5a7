import type { TransformLimits } from '../limits.ts';

/** Promise jobs between two checks of the budget. An interrupted job takes up to one round of QuickJS's counter. */
export const jobsPerSlice = 32;
/** This many slices of jobs may still run after the result, so that they do not run in the next invocation. */
export const leftoverSlices = 8;
/** Only CPU time counts, because waiting for a core is not the code's fault. */
export const leftoverLimits = { cpuMs: 5, wallMs: Number.POSITIVE_INFINITY };

export interface Budget {
  /** The limit that is reached, or would be after another `aheadMs` of work. */
  exceeded(aheadMs?: number): 'cpuMs' | 'wallMs' | undefined;
  cpuMs(): number;
  wallMs(): number;
  wallLeftMs(): number;
}

export function budgetFrom(
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
