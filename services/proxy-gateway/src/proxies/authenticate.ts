import { holds, mayInvoke } from '@sluice/access';
import { authenticate, type Caller, isSessionKey, type KeyHashes } from '@sluice/credentials';
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

/** The caller of a well-formed key; undefined if the key is unknown, expired or deleted. */
export async function callerOf(
  key: string,
  hashes: KeyHashes,
  { callers, pepper, keyUses }: Authenticating,
): Promise<Caller | undefined> {
  const hashText = hashes.of(pepper, key);
  const caller = await (isSessionKey(key) ? callers.bySessionKeyHash(hashText) : callers.byKeyHash(hashText));
  if (caller) keyUses.note(caller);
  return caller;
}

/** @throws {ServiceError} 404 for another Tenant's Proxy, 403 for missing rights. */
export function requireInvocable({ id, tenantId }: ProxyDefinition, caller: Caller): void {
  if (caller.tenantId !== tenantId) throw proxyNotFound();
  if (!mayInvoke(caller, id)) {
    throw new ServiceError('forbidden', `This ${callerInWords(caller)} may not invoke this Proxy`);
  }
  if (!holds(caller, 'token:use')) throw new ServiceError('forbidden', 'This operation needs the permission token:use');
}

/** Whose list of Proxies it is; a session has what its own and that of its Application name. */
const callerInWords = ({ type }: Caller) => (type === 'session' ? 'session' : 'Application');
