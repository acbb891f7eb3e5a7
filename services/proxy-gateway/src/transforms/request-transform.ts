import type { Context } from '../context.ts';
import type { ContentKind } from '../invocation/content-type.ts';
import type { ProxyDefinition } from '../invocation/find-proxy.ts';
import type { Invocation } from '../invocation/read-invocation.ts';
import { toHeaderObject } from './header-list.ts';
import { applyResult, type Message, runTransform } from './run-transform.ts';
import { toArgsBody } from './transform-body.ts';

export interface RequestTransformInput {
  proxy: ProxyDefinition;
  invocation: Invocation;
  message: Message;
  kind: ContentKind;
  /** As the caller sent them. */
  rawHeaders: readonly string[];
}

/** Runs the Proxy's request transform, if it has one and may see this body. It sees the body with the values in it. */
export async function transformRequest(input: RequestTransformInput, context: Context): Promise<Message> {
  const { proxy, invocation, message, kind, rawHeaders } = input;
  const code = proxy.requestTransform;
  const bodyJson = code === undefined ? undefined : toArgsBody(message.body, kind);
  if (code === undefined || bodyJson === undefined) return message;
  const { apiKey, proxyKey } = context.headerNames;
  const rest = JSON.stringify({
    headers: toHeaderObject(rawHeaders, new Set([apiKey, proxyKey])),
    method: invocation.method,
    path: invocation.suffix,
    query: invocation.query,
  });
  const argsJson = `{"body":${bodyJson},${rest.slice(1)}`;
  const run = { proxy, kind: 'request', code, argsJson, traceId: invocation.traceId } as const;
  return applyResult(await runTransform(run, context), message);
}
