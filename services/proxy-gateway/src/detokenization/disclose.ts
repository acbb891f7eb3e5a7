import type { Disclosure } from '@sluice/audit';
import { actorTypeOf, type Caller } from '@sluice/credentials';
import { limitedOf, requireUse, revealForUse, spendUses, UseRefused, type Vault } from '@sluice/vault';
import { type Revealing, RevealingApplication, withoutNameOf } from '../acting/revealing-application.ts';
import { ConsoleSecrets } from '../code/console/secrets.ts';
import type { Context } from '../context.ts';
import { noteTokenIds } from '../observation/note-for-feed.ts';
import type { Invocation } from '../proxies/invocation.ts';
import type { Asked, DecryptedTokens } from './asked.ts';
import { purposeOf } from './purpose.ts';

export type DecryptingTokens = Pick<Context, 'vault' | 'rateLimits'>;

const noIds: readonly string[] = [];

interface Revealer {
  caller: Caller;
  application?: Caller;
}

/**
 * Its values must not leave the process before {@link spendUsesOf} and {@link recordDisclosure}.
 * @throws {ServiceError} 400, 401 and 403.
 */
export async function decryptTokens(
  invocation: Invocation,
  { tokenIds, places, needed, fault }: Asked,
  context: DecryptingTokens,
): Promise<DecryptedTokens> {
  const { vault } = context;
  const { acting } = invocation;
  const caller = acting.caller ?? (await findCaller(acting, context));
  if (fault) {
    await requireUse(vault, caller, tokenIds);
    throw fault;
  }
  let limited = noIds;
  try {
    const values = await revealForUse(vault, caller, tokenIds, {
      budget: acting,
      purpose: () => purposeOf(invocation, places),
      onFound: (rows) => {
        acting.judgement.endsAt(acting.seen.note(vault, rows));
        limited = limitedOf(rows);
      },
      ...(needed && { needed }),
    });
    return { caller, tokenIds, limited, values };
  } catch (error) {
    throw await recorded(error, invocation, { caller }, context);
  }
}

/**
 * With the rights of the Proxy's Application, which the caller needs not have. Nothing is said about the tokens, because
 * the caller may not see the headers that name them. @throws {ServiceError} 400, 401 and 403.
 */
export async function decryptAsApplication(
  invocation: Invocation,
  { tokenIds, places, needed }: Asked,
  context: DecryptingTokens & Revealing,
): Promise<DecryptedTokens> {
  const { acting, proxy } = invocation;
  const caller = acting.caller ?? (await findCaller(acting, context));
  const revealing = await RevealingApplication.find(proxy, tokenIds, context);
  acting.revealing = revealing;
  const { application } = revealing;
  let limited = noIds;
  try {
    const values = await revealing.reveal(acting.judgement, {
      budget: acting,
      purpose: () => purposeOf(invocation, places),
      onFound: (rows) => {
        limited = limitedOf(rows);
      },
      ...(needed && { needed }),
    });
    return { caller, application, tokenIds, limited, values };
  } catch (error) {
    throw await recorded(error, invocation, { caller, application }, context);
  }
}

/**
 * Counts a use of each limited token, those of the caller and those of the Proxy's Application together: of all or of none.
 * Undefined, without a query, if there is none. @throws {UseRefused} if one has no use left.
 */
export function spendUsesOf(
  invocation: Invocation,
  revealed: DecryptedTokens | undefined,
  revealedByOwn: DecryptedTokens | undefined,
  context: DecryptingTokens,
): Promise<unknown> | undefined {
  const limited = revealed?.limited ?? noIds;
  const limitedOfOwn = revealedByOwn?.limited ?? noIds;
  if (limited.length + limitedOfOwn.length === 0) return undefined;
  const { acting, proxy } = invocation;
  const spent = spendUses(context.vault, proxy.tenantId, [...limited, ...limitedOfOwn], acting.counted);
  return spent?.catch(async (error: unknown) => {
    if (!(error instanceof UseRefused)) throw error;
    const refused = refusedOf(error, revealed);
    const refusedOfOwn = refusedOf(error, revealedByOwn);
    if (revealed) await recorded(refused, invocation, revealed, context);
    if (revealedByOwn) await recorded(refusedOfOwn, invocation, revealedByOwn, context);
    throw refused ?? (refusedOfOwn && withoutNameOf(refusedOfOwn)) ?? error;
  });
}

/** Undefined if none of these tokens is refused. */
function refusedOf({ refusals }: UseRefused, revealed: DecryptedTokens | undefined): UseRefused | undefined {
  const own = refusals.filter(({ token_id }) => revealed?.limited.includes(token_id));
  return own.length === 0 ? undefined : new UseRefused(own);
}

/** Tokens that were refused are found in the log as those that were revealed are. @returns the error. */
async function recorded(
  error: unknown,
  invocation: Invocation,
  { caller, application = caller }: Revealer,
  { vault }: DecryptingTokens,
): Promise<unknown> {
  if (error instanceof UseRefused) {
    const { detail, ...row } = rowOf(invocation, { caller, application, tokenIds: [], places: [] });
    await vault.disclosures.record({ ...row, detail: { ...detail, refused: error.refusals } });
  }
  return error;
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
  {
    caller,
    application = caller,
    tokenIds,
    values,
    places,
  }: Omit<DecryptedTokens, 'limited'> & { places: readonly string[] },
  { disclosures }: Pick<Vault, 'disclosures'>,
): Promise<void> | undefined {
  if (tokenIds.length === 0) return undefined; // the places hold quoted texts only
  const { acting } = invocation;
  invocation.tokens = (invocation.tokens ?? 0) + tokenIds.length;
  noteTokenIds(invocation, tokenIds);
  if (invocation.hasTransform) {
    acting.secrets ??= new ConsoleSecrets();
    acting.secrets.add([...values.values()]);
  }
  return disclosures.record(rowOf(invocation, { caller, application, tokenIds, places }));
}

/**
 * A call of a route without a row of its own gets one that names no token, so that the log has all that an agent did.
 * Undefined if it has one. @throws {ServiceError} 503 if it cannot be recorded.
 */
export function recordCall(
  invocation: Invocation,
  { disclosures }: Pick<Vault, 'disclosures'>,
): Promise<void> | undefined {
  const { head, acting, tokens } = invocation;
  const { caller } = acting;
  if (!head.route || tokens !== undefined || !caller) return undefined;
  return disclosures.record(rowOf(invocation, { caller, application: caller, tokenIds: [], places: [] }));
}

interface Revealed {
  /** Undefined if no key was needed. */
  caller: Caller | undefined;
  application: Caller | undefined;
  tokenIds: readonly string[];
  places: readonly string[];
}

export function rowOf(
  { proxy, traceId, head: { target, route } }: Invocation,
  { caller, application, tokenIds, places }: Revealed,
): Disclosure {
  return {
    tenantId: proxy.tenantId,
    actorId: caller?.id ?? null,
    actorType: caller ? actorTypeOf(caller) : 'system',
    traceId,
    operation: 'use',
    entityType: 'proxy',
    entityId: proxy.id,
    detail: {
      token_ids: tokenIds,
      destination_host: proxy.destination.host,
      ...(application && { application_id: application.applicationId ?? application.id }),
      method: target.method,
      places,
      ...(route && { path_name: route.pathName }),
    },
  };
}
