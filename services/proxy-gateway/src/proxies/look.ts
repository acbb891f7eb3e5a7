import { isDeepStrictEqual } from 'node:util';
import { asTenant } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import { type Authenticating, authenticateCaller, requireInvocable } from './authenticate.ts';
import type { ProxyDefinition } from './definition.ts';
import { proxyNotFound, type Selecting, selectAgain } from './find-proxy.ts';
import type { Invocation } from './invocation.ts';

export type Looking = Selecting & Authenticating & Pick<Context, 'vault'>;

/**
 * Checks rights before anything is sent: before code gets values or configuration, before the first byte to the
 * destination and each streamed window with values, before a response of a request transform. An invocation may have
 * waited minutes for its body, memory, a thread or a connection since it was authorized, and must not send what was
 * revoked during that wait.
 * @throws {ServiceError} 404, 401 and 400 if the Proxy, the caller or a token is gone; 503 if one has changed.
 */
export function look(invocation: Invocation, context: Looking): Promise<void> | undefined {
  const { judgement, proxy } = invocation;
  return judgement.look(() => asTenant(proxy.tenantId, () => judgeAgain(invocation, context)));
}

async function judgeAgain(invocation: Invocation, context: Looking): Promise<void> {
  const { head, caller, seen } = invocation;
  const proxy = await selectAgain(invocation, context);
  if (!proxy) throw proxyNotFound();
  if (proxy !== invocation.proxy && !isSame(proxy, invocation.proxy)) throw changed('Proxy');
  invocation.proxy = proxy;
  const found = caller && (await authenticateCaller(head, context));
  if (found) requireInvocable(proxy, found);
  if (!isDeepStrictEqual(found, caller)) throw changed('key');
  await seen.look(context.vault, proxy.tenantId);
}

/** A changed configuration does not matter unless a transform has received the former one. */
function isSame(proxy: ProxyDefinition, known: ProxyDefinition): boolean {
  const { configurationCiphertext } = proxy;
  return isDeepStrictEqual(proxy, { ...known, configurationCiphertext });
}

export function changed(what: 'Proxy' | 'key'): ServiceError {
  const detail = `The ${what} was changed while the request waited; try again`;
  return new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
}
