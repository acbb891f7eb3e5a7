import type { Logger } from '@sluice/service-runtime';

export interface SweepOptions {
  name: string;
  intervalMs: number;
  log: Logger;
  onFailure?: () => void;
  onSuccess?: (durationMs: number) => void;
  /** Once aborted, no round begins, while a stop waits for rounds of other sweeps. */
  stopping: AbortSignal;
  stack: AsyncDisposableStack;
}

/** Repeats from the rows alone what a job should have done. Rounds do not overlap; disposal awaits the current one. */
export function startSweep(
  round: () => Promise<unknown>,
  { name, intervalMs, log, stopping, stack, onFailure, onSuccess }: SweepOptions,
): void {
  let running: Promise<unknown> | undefined;
  let failures = 0;
  const tick = () => {
    if (running || stopping.aborted) return;
    const startedAt = performance.now();
    running = round()
      .then(() => {
        onSuccess?.(performance.now() - startedAt);
        if (failures > 0) log.info({ sweep: name, failures }, 'the sweep works again');
        failures = 0;
      })
      .catch((error: unknown) => {
        onFailure?.();
        failures += 1;
        // Only the first of consecutive failures is logged, because sweeps run every second
        if (failures === 1) log.error({ err: error, sweep: name }, 'a sweep failed; the next one tries again');
      })
      .finally(() => {
        running = undefined;
      });
  };
  const timer = setInterval(tick, intervalMs);
  tick();
  stack.defer(async () => {
    clearInterval(timer);
    await running;
  });
}
