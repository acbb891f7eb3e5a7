import { Judgement } from '@sluice/credentials';
import type { Context } from '../context.ts';
import { joinUrl } from '../destination/index.ts';
import { detokenizeBody } from '../detokenization/reveal.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import type { TenantPlaces } from '../limits/tenant-places.ts';
import { admitCaller, authenticateCaller } from '../proxies/authenticate.ts';
import { selectProxy } from '../proxies/find-proxy.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { transformRequest } from '../transforms/request-transform.ts';
import { transformResponse } from '../transforms/response-transform.ts';
import { callDestination } from './call-destination.ts';
import { readInvocation } from './read-invocation.ts';
import { readRequest } from './read-request.ts';
import { isCollected, sendAnswer } from './reply.ts';

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
  invocation.judgement = new Judgement(context.caches);
  const proxy = await selectProxy(head, context);
  invocation.proxy = proxy;
  if (proxy.requireAuth) admitCaller(invocation, await authenticateCaller(head, context));

  if (context.rateLimits) await countForRates(invocation, context.rateLimits);
  takePlace(invocation, context.places);
  const target = joinUrl(proxy.destination, head.suffix, head.query);
  clock.enter();

  try {
    // One variable, because a second variable would keep the previous body in memory
    let message = await readRequest(invocation, context);
    clock.enter('detokenize');
    message = await detokenizeBody(invocation, message, context);
    message = await transformRequest(invocation, message, context);

    clock.enter('destination');
    const answer = await callDestination(invocation, { target, message }, context);
    const reply = isCollected(answer) ? await transformResponse(invocation, answer, context) : answer;
    await sendAnswer(invocation, reply, context);
  } finally {
    invocation.revealing?.destroy();
  }
}

/** The Application's limit comes first, so that an Application over its limit uses up nothing of the Proxy's. */
async function countForRates({ caller, proxy }: Invocation, rateLimits: RateLimits): Promise<void> {
  if (caller) await rateLimits.countCaller(caller);
  await rateLimits.countProxy(proxy.id);
}

/** If the caller has left, `close` has already fired and would never release the place, so none is taken. */
function takePlace(invocation: Invocation, places: TenantPlaces): void {
  if (invocation.response.destroyed) return;
  places.take(invocation.proxy.tenantId);
  invocation.hasPlace = true;
}
