import type { Caller } from '@sluice/credentials';
import { revealForUse } from '@sluice/vault';
import type { Context } from '../context.ts';
import { authenticateCaller } from '../invocation/authenticate.ts';
import type { ContentKind } from '../invocation/content-type.ts';
import type { InvocationRecord } from '../invocation/invocation-record.ts';
import type { RequestMessage } from '../invocation/message.ts';
import type { ProxyDefinition } from '../invocation/proxy-definition.ts';
import type { Invocation } from '../invocation/read-invocation.ts';
import { fillPlaces, tokenIdsIn } from './detokenize.ts';
import { findExpressions, mayHoldExpression } from './find-expressions.ts';

export interface RevealInput {
  invocation: Invocation;
  proxy: ProxyDefinition;
  /** Undefined where the Proxy asks for no key: then the key is looked at only when the body holds an expression. */
  caller: Caller | undefined;
  record: InvocationRecord;
}

/** Notes the disclosure, then puts the values in the place of the expressions: what a filter fails on tells of them, too. */
export async function reveal(message: RequestMessage, input: RevealInput, context: Context): Promise<RequestMessage> {
  const { invocation, proxy, record } = input;
  if (!Buffer.isBuffer(message.body) || !mayHoldExpression(message.body)) return message;
  if (!input.caller && invocation.apiKey === undefined) return message;
  const kind = message.kind === 'none' ? untypedKind(message.body) : message.kind;
  const places = findExpressions(message.body, kind);
  if (places.length === 0) return message;
  const caller = input.caller ?? (await authenticateCaller(invocation.apiKey, proxy, context));
  const tokenIds = tokenIdsIn(places);
  const values = await revealForUse(context.vault, { ...caller, traceId: invocation.traceId }, tokenIds);
  record.applicationId = caller.id;
  record.tokens = tokenIds.length;
  record.sensitive = [...values.values()];
  context.vault.disclosures.record({
    tenantId: proxy.tenantId,
    actorId: caller.id,
    traceId: invocation.traceId,
    operation: 'proxy.invoked',
    entityType: 'proxy',
    entityId: proxy.id,
    detail: { token_ids: tokenIds, destination_host: proxy.destination.host },
  });
  const body = fillPlaces(message.body, places, { values, limitBytes: context.bodyLimitBytes });
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
