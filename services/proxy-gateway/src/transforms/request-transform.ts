import type { Context } from '../context.ts';
import { toHeaderObject } from '../http/header-list.ts';
import type { RequestMessage } from '../http/message.ts';
import type { Invocation } from '../invocation/read-invocation.ts';
import type { InvocationRecord } from '../observation/record.ts';
import type { ProxyDefinition } from '../proxies/definition.ts';
import { applyResult, runTransform } from './run-transform.ts';
import { toArgsBody } from './transform-body.ts';

export interface RequestTransformInput {
  invocation: Invocation;
  proxy: ProxyDefinition;
  /** As the caller sent them. */
  rawHeaders: readonly string[];
  record: InvocationRecord;
}

/** Runs the Proxy's request transform, if it has one and may see this body. It sees the body with the values in it. */
export async function transformRequest(
  message: RequestMessage,
  { invocation, proxy, rawHeaders, record }: RequestTransformInput,
  context: Context,
): Promise<RequestMessage> {
  const { body, kind, headers } = message;
  const code = proxy.requestTransform;
  if (code === undefined || !Buffer.isBuffer(body)) return message;
  const bodyJson = toArgsBody(body, kind);
  if (bodyJson === undefined) return message;
  const { apiKey, proxyKey } = context.headerNames;
  const rest = JSON.stringify({
    headers: toHeaderObject(rawHeaders, new Set([apiKey, proxyKey])),
    method: invocation.method,
    path: invocation.suffix,
    query: invocation.query,
  });
  const argsJson = `{"body":${bodyJson},${rest.slice(1)}`;
  const run = { proxy, kind: 'request', code, argsJson, traceId: invocation.traceId, record } as const;
  return { kind, ...applyResult(await runTransform(run, context), { headers, body }) };
}
