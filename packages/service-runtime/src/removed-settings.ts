import type { Logger } from './logger.ts';

/** Settings that earlier versions had. Add one here when you remove it, so that an upgrade neither fails nor is silent. */
const removed: Readonly<Record<string, string>> = {
  DESTINATION_BREAKER_FAILURES: 'calls to destinations that cannot be reached are bounded by DESTINATION_MAX_WAITING',
  DESTINATION_BREAKER_OPEN_MS: 'calls to destinations that cannot be reached are bounded by DESTINATION_MAX_WAITING',
};

/** Logs a warning for each setting that is set and that no service reads any more. */
export function warnOfRemovedSettings(env: NodeJS.ProcessEnv, log: Logger): void {
  for (const [name, instead] of Object.entries(removed)) {
    if (env[name]) log.warn({ setting: name }, `${name} has no effect any more: ${instead}`);
  }
}
