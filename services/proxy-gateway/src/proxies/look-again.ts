import { isDeepStrictEqual } from 'node:util';
import { type AtOnceOrLater, andThen } from '@sluice/cache-coherence';
import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import { authenticateCaller } from './authenticate.ts';
import type { ProxyDefinition } from './definition.ts';
import { findProxy } from './find-proxy.ts';
import type { Invocation } from './invocation.ts';

/** Sets the caller; none where the Proxy asks for no key and no expression has been found so far. */
export function authenticate(invocation: Invocation, context: Context): AtOnceOrLater<void> {
  const { head, proxy, caller: known } = invocation;
  if (!proxy.requireAuth && !known) return undefined;
  return andThen(authenticateCaller(head.apiKey, proxy, context), (caller) => {
    invocation.caller = caller;
  });
}

/**
 * After a wait Proxy and key may be gone or changed: bodies may take two minutes or more, and bodies, values, transforms and
 * calls wait for their turn. `openedFor` is who was judged when tokens were opened.
 * @throws {ServiceError} 404 and 401 for what is gone, 403 for missing rights, 503 for what was changed.
 */
export async function lookAgain(invocation: Invocation, context: Context, openedFor?: Caller): Promise<void> {
  const proxy = await findProxy(invocation.head.proxyKey, context);
  if (proxy !== invocation.proxy && !isSame(proxy, invocation.proxy)) throw changed('Proxy');
  invocation.proxy = proxy;
  await authenticate(invocation, context);
  if (openedFor && !isDeepStrictEqual(openedFor, invocation.caller)) throw changed('key');
}

/** Its configuration is read when a transform runs, so that another one changes nothing so far. */
function isSame(proxy: ProxyDefinition, known: ProxyDefinition): boolean {
  const { configurationCiphertext } = proxy;
  return isDeepStrictEqual(proxy, { ...known, configurationCiphertext });
}

/** {@link lookAgain} on the way to the destination, where what was opened counts as it was opened. */
export function lookAgainOnTheWay(invocation: Invocation, context: Context): Promise<void> {
  const { opened, tokens, caller } = invocation;
  return lookAgain(invocation, context, opened?.caller ?? (tokens === undefined ? undefined : caller));
}

function changed(what: 'Proxy' | 'key'): ServiceError {
  const detail = `The ${what} was changed while the request waited; try again`;
  return new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
}
