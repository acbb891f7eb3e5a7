/** What the test files that one worker runs share; closed after the last of them. */
export const workerStack = new AsyncDisposableStack();
