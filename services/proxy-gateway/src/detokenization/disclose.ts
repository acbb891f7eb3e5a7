import { actorTypeOf, type Caller } from '@sluice/credentials';
import { requireUse, revealForUse, type Vault } from '@sluice/vault';
import { ConsoleSecrets } from '../code/console/secrets.ts';
import type { Context } from '../context.ts';
import { decryptionBudgetOf } from '../limits/decryption-budget.ts';
import { noteTokenIds } from '../observation/note-for-feed.ts';
import type { Invocation } from '../proxies/invocation.ts';
import type { Asked, DecryptedTokens } from './decrypted-body.ts';

export type DecryptingTokens = Pick<Context, 'vault' | 'rateLimits' | 'bodyBytes'>;

/** Its values must not leave the process before {@link recordDisclosure}. @throws {ServiceError} 400, 401 and 403. */
export async function decryptTokens(
  invocation: Invocation,
  { tokenIds, needed, fault }: Asked,
  context: DecryptingTokens,
): Promise<DecryptedTokens> {
  const { vault } = context;
  const { acting } = invocation;
  const caller = acting.caller ?? (await findCaller(acting, context));
  if (fault) {
    await requireUse(vault, caller, tokenIds);
    throw fault;
  }
  const values = await revealForUse(vault, caller, tokenIds, {
    budget: decryptionBudgetOf(acting, context),
    onFound: (rows) => acting.judgement.endsAt(acting.seen.note(vault, rows)),
    ...(needed && { needed }),
  });
  return { caller, tokenIds, values };
}

/** For an invocation whose caller was not looked up, because the Proxy needs no key. */
async function findCaller(acting: Invocation['acting'], context: DecryptingTokens): Promise<Caller> {
  const caller = await acting.selection.authenticate(acting.owner);
  acting.admitCaller(caller);
  await context.rateLimits?.countCaller(caller);
  return caller;
}

/** @throws {ServiceError} 503 if the disclosure cannot be recorded. */
export function recordDisclosure(
  invocation: Invocation,
  { caller, tokenIds, values }: DecryptedTokens,
  { disclosures }: Pick<Vault, 'disclosures'>,
): Promise<void> | undefined {
  if (tokenIds.length === 0) return undefined; // the body holds quoted texts only
  const { acting, proxy } = invocation;
  invocation.tokens = (invocation.tokens ?? 0) + tokenIds.length;
  noteTokenIds(invocation, tokenIds);
  if (invocation.hasTransform) {
    acting.secrets ??= new ConsoleSecrets();
    acting.secrets.add([...values.values()]);
  }
  return disclosures.record({
    tenantId: proxy.tenantId,
    actorId: caller.id,
    actorType: actorTypeOf(caller),
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
