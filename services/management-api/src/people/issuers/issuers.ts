import { ConfigError, type Logger } from '@sluice/service-runtime';
import type { Config } from '../../config.ts';
import { consoleUrlOf } from '../../console/console-url.ts';
import { readIssuers } from './issuer.settings.ts';
import { Issuer } from './issuer.ts';

/**
 * Sends no request until somebody signs in, so the console starts even if an issuer is unavailable. @throws
 * {ConfigError}
 */
export function issuersFrom(config: Config, log: Pick<Logger, 'info' | 'warn'>): ReadonlyMap<string, Issuer> {
  const issuers = readIssuers(config.OIDC_ISSUERS);
  const consoleUrl = consoleUrlOf(config.CONSOLE_HOST);
  if (consoleUrl === undefined) {
    if (issuers.length > 0) throw new ConfigError(['CONSOLE_HOST: is required with OIDC_ISSUERS']);
    return new Map();
  }
  if (issuers.length === 0 && !config.CONSOLE_LINK_SIGN_IN) {
    log.warn('OIDC_ISSUERS is not set: management keys sign in to the console, and invitations cannot be accepted');
  }
  if (consoleUrl.startsWith('https:')) {
    log.info(`the console is served to ${consoleUrl}; browsers sign in by https only`);
  }
  return new Map(issuers.map((settings) => [settings.name, new Issuer(settings, consoleUrl)]));
}
