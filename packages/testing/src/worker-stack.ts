/** What the test files that one worker runs share; closed after the last of them. */
export const workerStack = new AsyncDisposableStack();

/** Opens at the first call, and then gives the same to all test files that one worker runs. */
export function oncePerWorker<T>(open: (stack: AsyncDisposableStack) => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    opened ??= open(workerStack);
    return opened;
  };
}
