/** The error of functions of Node.js whose signal was aborted. @param {AbortSignal} signal */
export function abortError(signal) {
  return Object.assign(new Error('The operation was aborted', { cause: signal.reason }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  });
}

/**
 * @param {AbortSignal | undefined} signal
 * @param {(error: Error) => void} abort
 * @returns {() => void} Lets go of the signal
 */
export function onAbort(signal, abort) {
  if (!signal) return () => {};
  const listener = () => abort(abortError(signal));
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}
