import { sameKeyPressMs } from '@sluice/service-runtime/command-line';
import { parentOf, processIdentity } from './processes/process-identity.ts';

export interface StopRequest extends Disposable {
  /** Aborted by the first request. */
  signal: AbortSignal;
  requested: Promise<undefined>;
}

/**
 * The first Ctrl-C, SIGTERM or SIGHUP asks to stop; another one ends this process at once, and the watchdog the rest.
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
  const npm = byNpm ? findNpm() : undefined;
  const timer = setInterval(() => {
    // npm passes on every signal except a kill -9.
    if (npm && firstAt === undefined && processIdentity(npm.pid) !== npm.identity) request();
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

/** The npm that runs this process: its parent, or the parent of the shell that npm starts for a script. */
function findNpm(): { pid: number; identity: string } | undefined {
  const parent = parentOf(process.pid);
  const npm = parent && /^(ba|da|z|k)?sh$/.test(parent.name) ? parentOf(parent.pid) : parent;
  const identity = npm && processIdentity(npm.pid);
  return npm && identity !== undefined ? { pid: npm.pid, identity } : undefined;
}
