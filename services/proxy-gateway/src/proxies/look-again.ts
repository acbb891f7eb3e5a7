import { isDeepStrictEqual } from 'node:util';
import { type AtOnceOrLater, andThen } from '@sluice/cache-coherence';
import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import { authenticateCaller } from './authenticate.ts';
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
 * After a wait Proxy and key may be gone or changed: bodies may take two minutes or more, and bodies and values wait for
 * room. `openedFor` is who was judged when tokens were opened.
 * @throws {ServiceError} 404 and 401 for what is gone, 403 for missing rights, 503 for what was changed.
 */
export async function lookAgain(invocation: Invocation, context: Context, openedFor?: Caller): Promise<void> {
  const { head, proxy: known } = invocation;
  const { destination, requireAuth } = await findProxy(head.proxyKey, context);
  if (requireAuth !== known.requireAuth || !isDeepStrictEqual(destination, known.destination)) throw changed('Proxy');
  await authenticate(invocation, context);
  if (openedFor && !isDeepStrictEqual(openedFor, invocation.caller)) throw changed('key');
}

function changed(what: 'Proxy' | 'key'): ServiceError {
  const detail = `The ${what} was changed while the request waited; try again`;
  return new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
}
