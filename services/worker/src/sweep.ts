import type { Logger } from '@sluice/service-runtime';

export interface SweepOptions {
  name: string;
  intervalMs: number;
  log: Logger;
  onFailure?: () => void;
  /** Told how long a round took that did not fail. */
  onSuccess?: (durationMs: number) => void;
  stack: AsyncDisposableStack;
}

/**
 * Does at every interval, from the rows alone, what a job should have done: so that a lost queue delays and loses
 * nothing. One round at a time; on disposal the round under way ends first.
 */
export function startSweep(
  round: () => Promise<unknown>,
  { name, intervalMs, log, stack, onFailure, onSuccess }: SweepOptions,
): void {
  let running: Promise<unknown> | undefined;
  let failures = 0;
  const tick = () => {
    if (running) return;
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
        // Once, however long what it needs is away: sweeps come each second.
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
