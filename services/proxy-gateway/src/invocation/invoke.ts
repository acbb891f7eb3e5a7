import type { IncomingMessage, ServerResponse } from 'node:http';
import { CustomHttpResponse } from '@sluice/sandbox';
import type { Context } from '../context.ts';
import { joinUrl } from '../destination/index.ts';
import { reveal } from '../detokenization/reveal.ts';
import { RevealStream } from '../detokenization/stream/reveal-stream.ts';
import type { InvocationRecord } from '../observation/record.ts';
import { authenticateCaller } from '../proxies/authenticate.ts';
import { findProxy } from '../proxies/find-proxy.ts';
import { transformRequest } from '../transforms/request-transform.ts';
import { transformResponse } from '../transforms/response-transform.ts';
import { callDestination } from './call-destination.ts';
import type { InvocationOptions } from './invocation-options.ts';
import { readInvocation } from './read-invocation.ts';
import { readRequest } from './read-request.ts';
import { sendAnswer, sendCustomResponse } from './reply.ts';

/** Until the answer is out or the caller gone; for one that is gone already, nobody would give it back. */
function takePlace(response: ServerResponse, record: InvocationRecord, { places }: Context): void {
  if (response.destroyed || record.tenantId === undefined) return;
  places.take(record.tenantId);
  record.hasPlace = true;
}

/** One invocation from the request to the reply: the hot path, top to bottom. */
export async function invoke(
  request: IncomingMessage,
  response: ServerResponse,
  options: InvocationOptions,
): Promise<void> {
  const { context, traceId, record } = options;
  const { clock } = record;
  const invocation = readInvocation(request, context.headerNames, traceId);
  clock.enter('authenticate');
  const proxy = await findProxy(invocation.proxyKey, context);
  record.proxyId = proxy.id;
  record.tenantId = proxy.tenantId;
  record.hasTransform = proxy.requestTransform !== undefined || proxy.responseTransform !== undefined;
  const caller = proxy.requireAuth ? await authenticateCaller(invocation.apiKey, proxy, context) : undefined;
  if (caller) record.applicationId = caller.id;
  if (context.rateLimits) await context.rateLimits.check(proxy.id, caller?.id);
  takePlace(response, record, context);
  const target = joinUrl(proxy.destination, invocation.suffix, invocation.query);

  clock.enter();
  const incoming = await readRequest(request, { invocation, proxy }, context);
  clock.enter('detokenize');
  const revealed = await reveal(incoming, { invocation, proxy, caller, record }, context);
  try {
    if (proxy.requestTransform !== undefined) clock.enter('transform');
    const transformed = await transformRequest(
      revealed,
      { invocation, proxy, record, rawHeaders: request.rawHeaders },
      context,
    );
    clock.enter('destination');
    // Whatever the caller or a transform says, what frames a connection is not passed on.
    const outgoing = { ...transformed, headers: context.destinations.headers.request(transformed.headers) };
    const told = record.trace && context.tellsDestinations ? record.trace.tell(outgoing) : outgoing;
    const answer = await callDestination({ ...target, ...told }, { invocation, proxy, response, options });
    if (!answer) return; // it streamed to the caller as it came
    clock.enter('transform');
    const reply = await transformResponse(answer, { proxy, traceId, record }, context);
    clock.enter();
    sendAnswer(response, reply, options);
  } catch (error) {
    if (!(error instanceof CustomHttpResponse)) throw error;
    clock.enter();
    sendCustomResponse(response, error, options);
  } finally {
    // Nobody waits for the rest of it, so no more is revealed.
    if (revealed.body instanceof RevealStream) revealed.body.destroy();
  }
}
