import { setTimeout as wait } from 'node:timers/promises';

/** @returns whether the condition held in time. @throws the signal's reason. */
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

/** Fails after a minute, because the machine may be busy. `what` is in the message. */
export async function eventually(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  if (!(await waitUntil(holds, 60_000))) throw new Error(`did not come within a minute: ${what}`);
}

/** Fails after a minute with the difference, as `toEqual` tells it. */
export async function eventuallyEqual(read: () => Promise<unknown> | unknown, expected: unknown): Promise<void> {
  const isEqual = async () => {
    try {
      expect(await read()).toEqual(expected);
      return true;
    } catch {
      return false; // told below, once the time is over
    }
  };
  if (!(await waitUntil(isEqual, 60_000))) expect(await read()).toEqual(expected);
}
