import { setTimeout as wait } from 'node:timers/promises';
import type { Readiness } from './admin.ts';
import type { Logger } from './logger.ts';

const intervalMs = 1000;

export interface LogMissingOptions {
  log: Logger;
  stack: AsyncDisposableStack;
}

/** Logs each change of what the service waits for, until the stack closes. */
export function logMissing(readiness: Readiness, { log, stack }: LogMissingOptions): void {
  const closing = new AbortController();
  const watch = async () => {
    let said = '';
    while (!closing.signal.aborted) {
      const missing = await readiness.missing();
      if (closing.signal.aborted || readiness.state === 'stopping') return;
      const parts = Object.entries(missing).map(([name, reason]) => `${name} (${reason})`);
      const text = parts.join(', ');
      if (text !== said && text !== '') log.warn({ missing }, `not ready; waiting for ${text}`);
      if (text !== said && text === '') log.info('ready');
      said = text;
      await wait(intervalMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined); // closing ends the wait
    }
  };
  void watch();
  stack.defer(() => closing.abort());
}
