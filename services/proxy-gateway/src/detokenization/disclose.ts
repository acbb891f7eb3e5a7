import { type AtOnceOrLater, andThen } from '@sluice/cache-coherence';
import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import { requireUse, revealForUse, type Vault } from '@sluice/vault';
import { openingOf } from '../budgets/opening.ts';
import type { Context } from '../context.ts';
import { foreignCharset } from '../http/charset.ts';
import { findHeader } from '../http/header-list.ts';
import { authenticateCaller } from '../proxies/authenticate.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { newConsoleSecrets } from '../transforms/console/secrets.ts';
import type { Asked, OpenedTokens } from './opened-body.ts';

/** Its values must not leave the process before {@link recordDisclosure}. @throws {ServiceError} 400, 401 and 403. */
export function openTokens(
  invocation: Invocation,
  { tokenIds, needed, fault = charsetFault(invocation) }: Asked,
  context: Context,
): AtOnceOrLater<OpenedTokens> {
  return andThen(invocation.caller ?? findCaller(invocation, context), (caller) => {
    if (fault) return refuse(context.vault, { caller, tokenIds, fault });
    const opening = revealForUse(context.vault, caller, tokenIds, {
      budget: openingOf(invocation, context),
      ...(needed && { needed }),
    });
    return andThen(opening, (values) => ({ caller, tokenIds, values }));
  });
}

/** Of an invocation without a caller so far, because the Proxy asks for no key. */
function findCaller(invocation: Invocation, context: Context): AtOnceOrLater<Caller> {
  return andThen(authenticateCaller(invocation.head.apiKey, invocation.proxy, context), (caller) => {
    invocation.caller = caller;
    return andThen(context.rateLimits?.countCaller(caller), () => caller);
  });
}

/** Values are written in UTF-8, so in text of another kind they could end a string early. */
function charsetFault({ message }: Invocation): ServiceError | undefined {
  const charset = foreignCharset(findHeader(message.headers, 'content-type'));
  if (charset === undefined) return undefined;
  const detail = `Expressions are replaced in UTF-8, and this body is of the charset ${charset.slice(0, 40)}`;
  return new ServiceError('bad_request', detail);
}

async function refuse(
  vault: Vault,
  { caller, tokenIds, fault }: { caller: Caller; tokenIds: readonly string[]; fault: ServiceError },
): Promise<never> {
  await requireUse(vault, caller, tokenIds);
  throw fault;
}

/** @throws {ServiceError} 503 if the disclosure cannot be recorded. */
export function recordDisclosure(
  invocation: Invocation,
  { caller, tokenIds, values }: OpenedTokens,
  { vault }: Context,
): Promise<void> {
  const { proxy } = invocation;
  invocation.tokens = (invocation.tokens ?? 0) + tokenIds.length;
  if (invocation.hasTransform) {
    invocation.secrets ??= newConsoleSecrets();
    invocation.secrets.add([...values.values()]);
  }
  return vault.disclosures.record({
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
}
