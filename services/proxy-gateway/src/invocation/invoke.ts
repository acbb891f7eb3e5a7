import type { Context } from '../context.ts';
import { joinUrl } from '../destination/index.ts';
import { reveal } from '../detokenization/reveal.ts';
import { authenticateCaller } from '../proxies/authenticate.ts';
import { findProxy } from '../proxies/find-proxy.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { transformRequest } from '../transforms/request-transform.ts';
import { transformResponse } from '../transforms/response-transform.ts';
import { callDestination } from './call-destination.ts';
import { readInvocation } from './read-invocation.ts';
import { readRequest } from './read-request.ts';
import { sendAnswer } from './reply.ts';

/** One invocation from the request to the reply: the hot path, top to bottom. */
export async function invoke(invocation: Invocation, context: Context): Promise<void> {
  const { request, clock, trace } = invocation;
  const head = readInvocation(request, context.headerNames);
  invocation.head = head;
  clock.enter('authenticate');
  const proxy = await findProxy(head.proxyKey, context);
  invocation.proxy = proxy;
  if (proxy.requireAuth) invocation.caller = await authenticateCaller(head.apiKey, proxy, context);
  if (context.rateLimits)
    await context.rateLimits.check(proxy.id, invocation.caller?.applicationId ?? invocation.caller?.id);
  takePlace(invocation, context);
  const target = joinUrl(proxy.destination, head.suffix, head.query);

  clock.enter();
  const incoming = await readRequest(invocation, context);
  clock.enter('detokenize');
  const revealed = await reveal(invocation, incoming, context);
  if (proxy.requestTransform !== undefined) clock.enter('transform');
  const transformed = await transformRequest(invocation, revealed, context);
  clock.enter('destination');
  // Whatever the caller or a transform says, what frames a connection is not passed on.
  const outgoing = { ...transformed, headers: context.destinations.headers.request(transformed.headers) };
  const told = trace && context.tellsDestinations ? trace.tell(outgoing) : outgoing;
  const answer = await callDestination(invocation, { ...target, ...told }, context);
  if (!answer) return; // it streamed to the caller as it came
  clock.enter('transform');
  const reply = await transformResponse(invocation, answer, context);
  clock.enter();
  sendAnswer(invocation, reply, context);
}

/** If the caller has left, `close` has already fired and would never give the place back, so none is taken. */
function takePlace(invocation: Invocation, { places }: Context): void {
  if (invocation.response.destroyed) return;
  places.take(invocation.proxy.tenantId);
  invocation.hasPlace = true;
}
