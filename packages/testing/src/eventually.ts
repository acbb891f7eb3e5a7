import { setTimeout as wait } from 'node:timers/promises';

/**
 * Waits until the condition holds, or the time is over.
 * @returns whether it held in time.
 * @throws the signal's reason.
 */
export async function waitUntil(
  holds: () => Promise<boolean> | boolean,
  withinMs: number,
  signal?: AbortSignal | undefined,
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) return false;
    await wait(10, undefined, { ...(signal && { signal }) });
  }
  return true;
}

/** Waits until the condition holds; fails after a minute, naming it, because the machine may be busy. */
export async function eventually(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  if (!(await waitUntil(holds, 60_000))) throw new Error(`did not come within a minute: ${what}`);
}
