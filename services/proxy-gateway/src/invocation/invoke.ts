import { refusedBy } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import { admit } from '../acting/acting.ts';
import type { Context } from '../context.ts';
import { checkTarget } from '../destination/index.ts';
import { recordCall } from '../detokenization/disclose.ts';
import { revealMessage } from '../detokenization/reveal.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import type { TenantPlaces } from '../limits/tenant-places.ts';
import type { ProxyDefinition } from '../proxies/definition.ts';
import type { Invocation, InvocationHead } from '../proxies/invocation.ts';
import { ProxyByKey } from '../proxies/proxy-by-key.ts';
import { ProxyByName } from '../proxies/proxy-by-name.ts';
import { transformRequest } from '../transforms/request-transform.ts';
import { isTransformed, transformResponse } from '../transforms/response-transform.ts';
import { callDestination, refusePart } from './call-destination.ts';
import { openGuard, requestGuard } from './open-guard.ts';
import { readInvocation } from './read-invocation.ts';
import { readRequest } from './read-request.ts';
import { sendAnswer } from './reply.ts';

/**
 * One invocation, from its head until its response is sent. A step returns what later steps need. What is needed after
 * a failure, for the log or to release memory, is stored in the invocation.
 * @throws errors that `serve.ts` answers.
 */
export async function invoke(invocation: Invocation, context: Context): Promise<void> {
  const { clock } = invocation;
  const head = readInvocation(invocation.request, context);
  invocation.head = head;

  clock.enter('authenticate');
  const { traceId, response } = invocation;
  const selection = head.route ? new ProxyByName(head.route, head.keys, context) : new ProxyByKey(head.keys, context);
  const acting = await admit(selection, context, { traceId, response });
  invocation.acting = acting;
  const { owner: proxy } = acting;
  if (proxy.responseGuard !== 'off') acting.guard = requestGuard(acting, proxy.responseGuard, context);
  if (proxy.requireAuth || head.route) acting.admitCaller(await selection.authenticate(proxy));

  if (context.rateLimits) await countForRates(acting, context.rateLimits);
  requireAllowed(proxy, head.target);
  takePlace(acting, context.places);
  checkTarget(head.target);
  clock.enter();

  try {
    // One variable, because a second variable would keep the previous body in memory
    let message = await readRequest(invocation, context);
    clock.enter('detokenize');
    message = await revealMessage(invocation, message, context);
    message = await transformRequest(invocation, message, context);

    clock.enter('destination');
    const recorded = recordCall(invocation, context.vault);
    if (recorded) await recorded;
    // All is known that can come back, unless a body streams; so memory is waited for before the destination has acted
    if (acting.guard && !invocation.revealing) await openGuard(invocation);
    const answer = await callDestination(invocation, message, context);
    refusePart(invocation, answer);
    const reply = isTransformed(invocation.proxy, answer)
      ? await transformResponse(invocation, answer, context)
      : answer;
    if (acting.guard && invocation.revealing) await openGuard(invocation, reply);
    await sendAnswer(invocation, reply, context);
  } finally {
    invocation.revealing?.destroy();
  }
}

/** @throws {ServiceError} 403 for a method or path that the Proxy does not allow. */
function requireAllowed(proxy: ProxyDefinition, target: InvocationHead['target']): void {
  const member = refusedBy(proxy, target);
  if (member) throw new ServiceError('forbidden', `The Proxy does not allow this call: see the ${member} of the Proxy`);
}

/** The Application's limit comes first, so that an Application over its limit uses up nothing of the Proxy's. */
async function countForRates({ caller, owner: proxy }: Invocation['acting'], rateLimits: RateLimits): Promise<void> {
  if (caller) await rateLimits.countCaller(caller);
  await rateLimits.countProxy(proxy.id);
}

/** If the caller has left, `close` has already fired and would never release the place, so none is taken. */
function takePlace(acting: Invocation['acting'], places: TenantPlaces): void {
  if (acting.response?.destroyed) return;
  places.take(acting.tenantId);
  acting.hasPlace = true;
}
