import { holds } from '@sluice/access';
import { authenticate, type Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import type { ProxyDefinition } from './definition.ts';
import { proxyNotFound } from './find-proxy.ts';
import type { SentKeys } from './sent-keys.ts';

export type Authenticating = Pick<Context, 'callers' | 'pepper' | 'keyUses' | 'headerNames'>;

/** Needs no Proxy. @throws {ServiceError} 401 */
export function authenticateCaller(
  { apiKey, hashes }: SentKeys,
  { callers, pepper, keyUses, headerNames }: Authenticating,
): Promise<Caller> {
  return authenticate(apiKey, { callers, pepper, keyUses, hashes, headerName: `${headerNames.prefix}-API-KEY` });
}

/** @throws {ServiceError} 404 for another Tenant's Proxy, 403 for missing rights. */
export function requireInvocable({ id, tenantId }: ProxyDefinition, caller: Caller): void {
  if (caller.tenantId !== tenantId) throw proxyNotFound();
  if (caller.proxies && !caller.proxies.includes(id)) {
    throw new ServiceError('forbidden', 'This session may not invoke this Proxy');
  }
  if (!holds(caller, 'token:use')) throw new ServiceError('forbidden', 'This needs the permission token:use');
}
