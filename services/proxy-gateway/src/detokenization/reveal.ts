import type { Caller } from '@sluice/credentials';
import type { Context } from '../context.ts';
import { authenticateCaller } from '../invocation/authenticate.ts';
import type { ContentKind } from '../invocation/content-type.ts';
import type { InvocationRecord } from '../invocation/invocation-record.ts';
import type { RequestMessage } from '../invocation/message.ts';
import type { ProxyDefinition } from '../invocation/proxy-definition.ts';
import type { Invocation } from '../invocation/read-invocation.ts';
import { detokenize } from './detokenize.ts';
import { findExpressions, mayHoldExpression } from './find-expressions.ts';

export interface RevealInput {
  invocation: Invocation;
  proxy: ProxyDefinition;
  /** Undefined where the Proxy asks for no key: then the key is looked at only when the body holds an expression. */
  caller: Caller | undefined;
  record: InvocationRecord;
}

/** Puts the values in the place of the expressions, and notes the disclosure before they leave. */
export async function reveal(message: RequestMessage, input: RevealInput, context: Context): Promise<RequestMessage> {
  const { invocation, proxy, record } = input;
  if (!Buffer.isBuffer(message.body) || !mayHoldExpression(message.body)) return message;
  if (!input.caller && invocation.apiKey === undefined) return message;
  const kind = message.kind === 'none' ? untypedKind(message.body) : message.kind;
  const places = findExpressions(message.body, kind);
  if (places.length === 0) return message;
  const caller = input.caller ?? (await authenticateCaller(invocation.apiKey, proxy, context));
  const { body, tokenIds } = await detokenize(message.body, places, {
    vault: context.vault,
    actor: { ...caller, traceId: invocation.traceId },
    limitBytes: context.bodyLimitBytes,
  });
  record.applicationId = caller.id;
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
  return { ...message, body };
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
