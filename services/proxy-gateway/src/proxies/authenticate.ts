import { holds } from '@sluice/access';
import { type AtOnceOrLater, andThen } from '@sluice/cache-coherence';
import { authenticate, type Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import type { ProxyDefinition } from './definition.ts';
import { proxyNotFound } from './find-proxy.ts';

/** @throws {ServiceError} 401 for the key, 404 for another Tenant's Proxy, 403 for missing rights. */
export function authenticateCaller(
  apiKey: string | undefined,
  proxy: ProxyDefinition,
  context: Context,
): AtOnceOrLater<Caller> {
  const { callers, pepper, headerNames } = context;
  const options = { callers, pepper, headerName: `${headerNames.prefix}-API-KEY` };
  return andThen(authenticate(apiKey, options), (caller) => {
    if (caller.tenantId !== proxy.tenantId) throw proxyNotFound();
    if (caller.proxies && !caller.proxies.includes(proxy.id)) {
      throw new ServiceError('forbidden', 'This session may not invoke this Proxy');
    }
    if (!holds(caller, 'token:use')) throw new ServiceError('forbidden', 'This needs the permission token:use');
    return caller;
  });
}
