import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '@sluice/credentials';
import { CustomHttpResponse } from '@sluice/sandbox';
import type { Context } from '../context.ts';
import { joinUrl } from '../destination/index.ts';
import { detokenize } from '../detokenization/detokenize.ts';
import { findExpressions, mayHoldExpression } from '../detokenization/find-expressions.ts';
import { withoutHeaders } from '../transforms/header-list.ts';
import { transformRequest } from '../transforms/request-transform.ts';
import { transformResponse } from '../transforms/response-transform.ts';
import type { Message } from '../transforms/run-transform.ts';
import { authenticateCaller } from './authenticate.ts';
import { callDestination } from './call-destination.ts';
import { type ContentKind, contentKind } from './content-type.ts';
import { findProxy, type ProxyDefinition } from './find-proxy.ts';
import { hasBody, readBody } from './read-body.ts';
import { type Invocation, readInvocation } from './read-invocation.ts';
import { sendAnswer, sendCustomResponse } from './reply.ts';

/** What the access log says of an invocation, filled in as it becomes known. */
export interface InvocationRecord {
  proxyId?: string;
  tenantId?: string;
  applicationId?: string;
  destinationStatus?: number;
  tokens?: number;
}

/** One invocation from the request to the reply: the hot path, top to bottom. */
export async function invoke(
  request: IncomingMessage,
  response: ServerResponse,
  { context, traceId, record }: { context: Context; traceId: string; record: InvocationRecord },
): Promise<void> {
  const invocation = readInvocation(request, context.headerNames, traceId);
  const proxy = await findProxy(invocation.proxyKey, context);
  record.proxyId = proxy.id;
  record.tenantId = proxy.tenantId;
  const caller = proxy.requireAuth ? await authenticateCaller(invocation.apiKey, proxy, context) : undefined;
  if (caller) record.applicationId = caller.id;
  const target = joinUrl(proxy.destinationUrl, invocation.suffix, invocation.query);

  const kind = contentKind(request.headers['content-type']);
  const isRead = hasBody(request) && mustRead(kind, proxy, invocation);
  const message: Message = { headers: context.destinations.headers.request(request.rawHeaders), body: Buffer.alloc(0) };
  if (isRead) {
    message.body = await readBody(request, context.bodyLimitBytes);
    message.headers = withoutHeaders(message.headers, 'content-encoding');
  }
  const revealed = await reveal(message, { kind, proxy, invocation, caller, record }, context);

  let destinationStatus: number | undefined;
  try {
    const input = { proxy, invocation, message: revealed, kind, rawHeaders: request.rawHeaders };
    const outgoing = isRead || !hasBody(request) ? await transformRequest(input, context) : revealed;
    const { method, keepAlive, connection } = invocation;
    const headers = context.destinations.headers.request(outgoing.headers);
    const held = outgoing.body.length > 0 ? outgoing.body : undefined;
    const body = !isRead && hasBody(request) ? request : held;
    const call = { ...target, tenantId: proxy.tenantId, method, headers, body, keepAlive, connection };
    const outcome = await callDestination(call, { proxy, response, context });
    destinationStatus = outcome.destinationStatus;
    record.destinationStatus = destinationStatus;
    if (!outcome.collected) return;
    const answer = await transformResponse(outcome.collected, { proxy, traceId }, context);
    sendAnswer(response, answer, context.headerNames);
  } catch (error) {
    if (!(error instanceof CustomHttpResponse)) throw error;
    sendCustomResponse(response, error, { names: context.headerNames, destinationStatus });
  }
}

/** Bodies that nobody reads stream through: binary ones, and those of anonymous calls without a transform. */
function mustRead(kind: ContentKind, proxy: ProxyDefinition, { apiKey }: Invocation): boolean {
  if (kind === 'opaque') return false;
  return proxy.requestTransform !== undefined || proxy.requireAuth || apiKey !== undefined;
}

interface RevealInput {
  kind: ContentKind;
  proxy: ProxyDefinition;
  invocation: Invocation;
  /** Undefined where the Proxy asks for no key: then the key is looked at only when the body holds an expression. */
  caller: Caller | undefined;
  record: InvocationRecord;
}

/** Puts the values in the place of the expressions, and notes that before they leave. */
async function reveal(message: Message, input: RevealInput, context: Context): Promise<Message> {
  const { proxy, invocation, record } = input;
  if (!mayHoldExpression(message.body)) return message;
  if (!input.caller && invocation.apiKey === undefined) return message;
  const kind = input.kind === 'none' ? untypedKind(message.body) : input.kind;
  const places = findExpressions(message.body, kind);
  if (places.length === 0) return message;
  const caller = input.caller ?? (await authenticateCaller(invocation.apiKey, proxy, context));
  record.applicationId = caller.id;
  const actor = { ...caller, traceId: invocation.traceId };
  const { body, tokenIds } = await detokenize(message.body, places, {
    vault: context.vault,
    actor,
    limitBytes: context.bodyLimitBytes,
  });
  record.tokens = tokenIds.length;
  context.vault.disclosures.record({
    tenantId: proxy.tenantId,
    actorId: caller.id,
    traceId: invocation.traceId,
    operation: 'proxy.invoked',
    entityType: 'proxy',
    entityId: proxy.id,
    detail: { token_ids: tokenIds, destination_host: new URL(proxy.destinationUrl).host },
  });
  return { headers: message.headers, body };
}

/** A body without content type is JSON if it parses. */
function untypedKind(body: Buffer): ContentKind {
  try {
    JSON.parse(body.toString());
    return 'json';
  } catch {
    return 'opaque';
  }
}
