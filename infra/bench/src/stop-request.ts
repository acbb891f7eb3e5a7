/** npm passes signals on, so that Ctrl-C, which the terminal sends to both, arrives twice. */
const sameKeyPressMs = 500;

/** Aborted by the first Ctrl-C, SIGTERM or SIGHUP, so that everything is stopped in order; another ends us at once. */
export function onStopRequest(): AbortSignal {
  const controller = new AbortController();
  let firstAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      firstAt ??= performance.now();
      if (!controller.signal.aborted) controller.abort();
      else if (performance.now() - firstAt > sameKeyPressMs) process.exit(1);
    });
  }
  return controller.signal;
}
