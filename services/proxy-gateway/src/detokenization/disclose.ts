import type { Caller } from '@sluice/credentials';
import { type Json, revealForUse } from '@sluice/vault';
import type { Context } from '../context.ts';
import type { Invocation } from '../invocation/read-invocation.ts';
import type { InvocationRecord } from '../observation/record.ts';
import { authenticateCaller } from '../proxies/authenticate.ts';
import type { ProxyDefinition } from '../proxies/definition.ts';

export interface RevealInput {
  invocation: Invocation;
  proxy: ProxyDefinition;
  /** Undefined where the Proxy asks for no key: then the key is looked at only when the body holds an expression. */
  caller: Caller | undefined;
  record: InvocationRecord;
}

/**
 * The values of tokens for one invocation, once the disclosure is noted.
 * @throws {ServiceError} 401 and 403 for the key, 400 and 403 for the tokens, 503 when the disclosure cannot be noted.
 */
export async function discloseTokens(
  tokenIds: readonly string[],
  input: RevealInput,
  context: Context,
): Promise<Map<string, Json>> {
  const { invocation, proxy, record } = input;
  const caller = input.caller ?? (await authenticateCaller(invocation.apiKey, proxy, context));
  const values = await revealForUse(context.vault, caller, tokenIds);
  record.applicationId = caller.id;
  record.tokens = (record.tokens ?? 0) + tokenIds.length;
  if (record.hasTransform) record.sensitive = [...(record.sensitive ?? []), ...values.values()]; // for its console
  await context.vault.disclosures.record({
    tenantId: proxy.tenantId,
    actorId: caller.id,
    traceId: invocation.traceId,
    operation: 'proxy.invoked',
    entityType: 'proxy',
    entityId: proxy.id,
    detail: { token_ids: tokenIds, destination_host: proxy.destination.host },
  });
  return values;
}
