import type { ServiceError } from '@sluice/problems';
import { type Json, requireUse, revealForUse } from '@sluice/vault';
import type { Context } from '../context.ts';
import { authenticateCaller } from '../proxies/authenticate.ts';
import type { Invocation } from '../proxies/invocation.ts';

/** What the expressions of a body, or of a part of it, ask for. */
export interface Asked {
  tokenIds: readonly string[];
  /** Those of them that stand somewhere without a filter; undefined: all. */
  needed?: ReadonlySet<string> | undefined;
  /** What is wrong in the expressions: thrown when the caller's rights are checked, and before anything is disclosed. */
  fault: ServiceError | undefined;
}

/**
 * The values of tokens for one invocation, once the disclosure is noted.
 * @throws {ServiceError} 401 and 403 for the key, 400 and 403 for the tokens, 400 for the expressions, 503 when the disclosure cannot be noted.
 */
export async function discloseTokens(
  invocation: Invocation,
  { tokenIds, needed, fault }: Asked,
  context: Context,
): Promise<Map<string, Json>> {
  const { proxy } = invocation;
  const caller = invocation.caller ?? (await authenticateCaller(invocation.head.apiKey, proxy, context));
  invocation.caller = caller;
  if (fault) {
    await requireUse(context.vault, caller, tokenIds);
    throw fault;
  }
  const values = await revealForUse(context.vault, caller, tokenIds, {
    budget: invocation.opening,
    ...(needed && { needed }),
  });
  invocation.tokens = (invocation.tokens ?? 0) + tokenIds.length;
  if (invocation.hasTransform) invocation.sensitive.push(...values.values()); // what transforms print is cleaned of them
  await context.vault.disclosures.record({
    tenantId: proxy.tenantId,
    actorId: caller.id,
    actorType: caller.type === 'session' ? 'session' : 'application',
    traceId: invocation.traceId,
    operation: 'use',
    entityType: 'proxy',
    entityId: proxy.id,
    detail: {
      token_ids: tokenIds,
      destination_host: proxy.destination.host,
      application_id: caller.applicationId ?? caller.id,
      method: invocation.head.method,
      places: ['body'],
    },
  });
  return values;
}
