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
 * Checks rights before anything is sent: before code gets values or configuration, before the first byte to the destination and
 * each streamed window with values, before an answer of a request transform. The invocation was judged once, and may have
 * waited minutes since, for its body, memory, a thread or a connection; what was revoked during that wait must not be sent.
 * @throws {ServiceError} 404, 401 and 400 for a Proxy, caller and token that is gone; 503 for what was changed.
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
  const found = caller && (await authenticateCaller(head.apiKey, context));
  if (found) requireInvocable(proxy, found);
  if (!isDeepStrictEqual(found, caller)) throw changed('key');
  await seen.look(context.vault, proxy.tenantId);
}

/** Another configuration changes nothing, as long as no transform was given the former one. */
function isSame(proxy: ProxyDefinition, known: ProxyDefinition): boolean {
  const { configurationCiphertext } = proxy;
  return isDeepStrictEqual(proxy, { ...known, configurationCiphertext });
}

export function changed(what: 'Proxy' | 'key'): ServiceError {
  const detail = `The ${what} was changed while the request waited; try again`;
  return new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
}
