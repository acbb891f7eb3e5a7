export interface StopRequest extends Disposable {
  /** Aborted by the first request. */
  signal: AbortSignal;
  requested: Promise<undefined>;
}

/** npm passes signals on, so that Ctrl-C, which the terminal sends to both, arrives twice. */
const sameKeyPressMs = 500;

/**
 * The first Ctrl-C, SIGTERM or SIGHUP asks us to stop; another ends this process at once, and the watchdog the rest.
 * Listening keeps the process alive.
 */
export function onStopRequest({ byNpm }: { byNpm: boolean }): StopRequest {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  let firstAt: number | undefined;
  const request = () => {
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      controller.abort();
      resolve(undefined);
    } else if (now - firstAt > sameKeyPressMs) {
      process.exit(1);
    }
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, request);
  const parent = process.ppid;
  // npm cannot pass on a kill -9.
  const timer = setInterval(() => {
    if (byNpm && process.ppid !== parent && firstAt === undefined) request();
  }, 500);
  return {
    signal: controller.signal,
    requested: promise,
    [Symbol.dispose]() {
      clearInterval(timer);
      for (const signal of signals) process.off(signal, request);
    },
  };
}
