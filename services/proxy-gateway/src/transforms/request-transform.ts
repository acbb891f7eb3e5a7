import type { AtOnceOrLater } from '@sluice/cache-coherence';
import { ServiceError } from '@sluice/problems';
import { heldBody } from '../budgets/hold-body.ts';
import type { Context } from '../context.ts';
import { toHeaderObject, withoutHeaders } from '../http/header-list.ts';
import type { RequestMessage } from '../http/message.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { runTransform } from './run-transform.ts';
import { applyWritten, passesBy, toTransformMessage, unreadableIn } from './transform-message.ts';

export function transformRequest(invocation: Invocation, context: Context): AtOnceOrLater<void> {
  const { message, proxy, clock } = invocation;
  const { requestTransform: code } = proxy;
  if (code === undefined) return undefined;
  clock.enter('transform');
  if (!Buffer.isBuffer(message.body)) return undefined;
  return writtenBy(code, invocation, context).then((written) => {
    invocation.message = written;
  });
}

async function writtenBy(code: string, invocation: Invocation, context: Context): Promise<RequestMessage> {
  const { message, head, request } = invocation;
  const { body, kind, headers } = message;
  if (!Buffer.isBuffer(body)) return message;
  const seen = toTransformMessage({ headers, body }, kind, context.budgets.requestTransform);
  if (!seen) return message;
  const { apiKey, proxyKey } = context.headerNames;
  const { endToEnd } = context.destinations.headers;
  const argsJson = JSON.stringify({
    headers: toHeaderObject(endToEnd(request.rawHeaders), new Set([apiKey, proxyKey, 'cdn-loop'])),
    method: head.method,
    path: head.suffix,
    query: head.query,
  });
  try {
    const written = await runTransform(invocation, { kind: 'request', code, argsJson, message: seen }, context);
    // The caller's `Connection` removes only what the caller sent, and nothing that the transform sets
    const result = applyWritten(written, { headers: endToEnd(headers), body });
    heldBody(invocation, 'request', context).has(result.body.length);
    return { kind, headers: withoutHeaders(result.headers, 'connection'), body: result.body };
  } catch (error) {
    if (passesBy(error, seen)) return message;
    const unreadable = unreadableIn(error, seen);
    if (!unreadable) throw error;
    throw new ServiceError('bad_request', unreadable.detail, { limit: unreadable.limit });
  }
}
