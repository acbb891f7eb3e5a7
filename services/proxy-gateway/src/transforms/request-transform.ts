import type { Context } from '../context.ts';
import { toHeaderObject } from '../http/header-list.ts';
import type { RequestMessage } from '../http/message.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { applyResult, runTransform } from './run-transform.ts';
import { toArgsBody } from './transform-body.ts';

/** Runs the Proxy's request transform, if it has one and may see this body. It sees the body with the values in it. */
export async function transformRequest(
  invocation: Invocation,
  message: RequestMessage,
  context: Context,
): Promise<RequestMessage> {
  const { body, kind, headers } = message;
  const { head, request } = invocation;
  const code = invocation.proxy.requestTransform;
  if (code === undefined || !Buffer.isBuffer(body)) return message;
  const bodyJson = toArgsBody(body, kind);
  if (bodyJson === undefined) return message;
  const { apiKey, proxyKey } = context.headerNames;
  const rest = JSON.stringify({
    headers: toHeaderObject(request.rawHeaders, new Set([apiKey, proxyKey])),
    method: head.method,
    path: head.suffix,
    query: head.query,
  });
  const argsJson = `{"body":${bodyJson},${rest.slice(1)}`;
  const result = await runTransform(invocation, { kind: 'request', code, argsJson }, context);
  return { kind, ...applyResult(result, { headers, body }) };
}
