import type { AtOnceOrLater } from '@sluice/cache-coherence';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import { withoutCallerAddress } from '../http/caller-address.ts';
import { findHeader, toHeaderObject, withoutHeaders } from '../http/header-list.ts';
import type { RequestMessage } from '../http/message.ts';
import { keepOnly, memoryOf } from '../limits/body-memory.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { runTransform, type Transforming } from './run-transform.ts';
import { applyWritten, passesBy, toTransformMessage, unreadableIn } from './transform-message.ts';

type TransformingRequests = Transforming & Pick<Context, 'destinations' | 'headerNames'>;

export function transformRequest(
  invocation: Invocation,
  message: RequestMessage,
  context: TransformingRequests,
): AtOnceOrLater<RequestMessage> {
  const { requestTransform: code } = invocation.proxy;
  return code === undefined ? message : transformBy(code, { invocation, message }, context);
}

async function transformBy(
  code: string,
  { invocation, message }: { invocation: Invocation; message: RequestMessage },
  context: TransformingRequests,
): Promise<RequestMessage> {
  const { head, request, clock } = invocation;
  clock.enter('transform');
  const { body, kind, headers, isBodyNew } = message;
  if (!Buffer.isBuffer(body)) return message;
  const { apiKey, proxyKey } = context.headerNames;
  const { endToEnd } = context.destinations.headers;
  const argsJson = JSON.stringify({
    headers: toHeaderObject(endToEnd(request.rawHeaders), new Set([apiKey, proxyKey, 'cdn-loop'])),
    method: head.method,
    path: head.suffix,
    query: head.query,
  });
  const limits = context.budgets.requestTransform;
  try {
    const seen = toTransformMessage({ headers, body }, kind, limits);
    if (!seen) return message;
    const written = await runTransform(invocation, { kind: 'request', code, argsJson, message: seen }, context);
    // The caller's `Connection` removes only the caller's headers, not those that the transform sets
    const came = { message: 'request', came: request.rawHeaders, isBodyNew } as const;
    const result = applyWritten(written, { headers: endToEnd(headers), body, ...came });
    if (result.body.length !== body.length) refusePart(endToEnd(headers));
    keepOnly(memoryOf(invocation.acting, 'request', context), result.body.length);
    return {
      kind,
      headers: withoutCallerAddress(withoutHeaders(result.headers, 'connection'), request.rawHeaders),
      body: result.body,
      isBodyNew: true,
    };
  } catch (error) {
    if (passesBy(error, kind)) return message;
    const unreadable = unreadableIn(error, limits);
    if (!unreadable) throw error;
    throw new ServiceError(unreadable.code, unreadable.detail, { limit: unreadable.limit });
  }
}

/** Of a part whose length has changed nothing would be in its place in the whole. */
function refusePart(headers: readonly string[]): void {
  if (findHeader(headers, 'content-range') === undefined) return;
  const detail = 'A request with Content-Range must keep the length of its body, and the request transform changed it';
  throw new ServiceError('bad_request', detail);
}
