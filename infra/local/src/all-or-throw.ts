/** Unlike Promise.all, waits for all promises before it throws, so that everything they opened can be closed. */
export async function allOrThrow(promises: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(promises)) {
    if (result.status === 'rejected') throw result.reason;
  }
}
