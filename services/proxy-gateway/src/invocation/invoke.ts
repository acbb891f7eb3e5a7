import type { IncomingMessage, ServerResponse } from 'node:http';
import { CustomHttpResponse } from '@sluice/sandbox';
import type { Context } from '../context.ts';
import { joinUrl } from '../destination/index.ts';
import { reveal } from '../detokenization/reveal.ts';
import { transformRequest } from '../transforms/request-transform.ts';
import { transformResponse } from '../transforms/response-transform.ts';
import { authenticateCaller } from './authenticate.ts';
import { callDestination } from './call-destination.ts';
import { findProxy } from './find-proxy.ts';
import type { InvocationRecord } from './invocation-record.ts';
import { readInvocation } from './read-invocation.ts';
import { readRequest } from './read-request.ts';
import { sendAnswer, sendCustomResponse } from './reply.ts';

export interface InvocationOptions {
  context: Context;
  traceId: string;
  record: InvocationRecord;
}

/** One invocation from the request to the reply: the hot path, top to bottom. */
export async function invoke(
  request: IncomingMessage,
  response: ServerResponse,
  options: InvocationOptions,
): Promise<void> {
  const { context, traceId, record } = options;
  const invocation = readInvocation(request, context.headerNames, traceId);
  const proxy = await findProxy(invocation.proxyKey, context);
  record.proxyId = proxy.id;
  record.tenantId = proxy.tenantId;
  const caller = proxy.requireAuth ? await authenticateCaller(invocation.apiKey, proxy, context) : undefined;
  if (caller) record.applicationId = caller.id;
  const target = joinUrl(proxy.destination, invocation.suffix, invocation.query);

  const incoming = await readRequest(request, { invocation, proxy }, context);
  const revealed = await reveal(incoming, { invocation, proxy, caller, record }, context);
  try {
    const outgoing = await transformRequest(
      revealed,
      { invocation, proxy, record, rawHeaders: request.rawHeaders },
      context,
    );
    const answer = await callDestination({ ...target, ...outgoing }, { invocation, proxy, response, record, context });
    if (!answer) return; // it streamed to the caller as it came
    sendAnswer(response, await transformResponse(answer, { proxy, traceId, record }, context), context.headerNames);
  } catch (error) {
    if (!(error instanceof CustomHttpResponse)) throw error;
    const { headerNames: names, destinations } = context;
    const { destinationStatus } = record;
    sendCustomResponse(response, error, { filter: destinations.headers, names, destinationStatus });
  }
}
