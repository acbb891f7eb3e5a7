/** Unlike Promise.all, fails when the last has come to its end, so that what they opened can be closed. */
export async function allOrThrow(promises: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(promises)) {
    if (result.status === 'rejected') throw result.reason;
  }
}
