import { isDeepStrictEqual } from 'node:util';
import { asTenant } from '@sluice/database';
import type { Context } from '../context.ts';
import type { Acting, Owner } from './acting.ts';

export type Looking = Pick<Context, 'vault' | 'callers'>;

/**
 * Checks rights before anything is sent: before code gets values or configuration, before a call leaves and before each
 * streamed window with values, around an answer of `svc`, and before a response that code made. Somebody may have
 * waited minutes for a body, memory, a thread or a connection since it was admitted, and must not send what was revoked
 * during that wait. Undefined if nothing can have changed.
 * @throws {ServiceError} 404, 401 and 400 if the owner, the caller or a token is gone; 503 if one has changed.
 */
export function look<O extends Owner>(acting: Acting<O>, context: Looking): Promise<void> | undefined {
  return lookAt(acting, context, false);
}

/** {@link look} before code gets the configuration: from then on each change of the owner matters. */
export function lookBeforeCode<O extends Owner>(acting: Acting<O>, context: Looking): Promise<void> | undefined {
  return lookAt(acting, context, true);
}

function lookAt<O extends Owner>(
  acting: Acting<O>,
  context: Looking,
  isBeforeCode: boolean,
): Promise<void> | undefined {
  const first = acting.selection.lookFirst?.();
  return first ? first.then(() => judge(acting, context, isBeforeCode)) : judge(acting, context, isBeforeCode);
}

function judge<O extends Owner>(acting: Acting<O>, context: Looking, isBeforeCode: boolean): Promise<void> | undefined {
  return acting.judgement.look(() => asTenant(acting.tenantId, () => judgeAgain(acting, context, isBeforeCode)));
}

async function judgeAgain<O extends Owner>(
  acting: Acting<O>,
  { vault, callers }: Looking,
  isBeforeCode: boolean,
): Promise<void> {
  const { selection, owner, caller, application, revealing, seen, tenantId } = acting;
  const found = await selection.find();
  if (!found) throw selection.notFound();
  // First, because the end of the Application changes the Proxy too
  await revealing?.look();
  const goesOnWith = found === owner ? owner : selection.goOnWith(found, owner, isBeforeCode);
  if (!goesOnWith) throw selection.changed('owner');
  acting.owner = goesOnWith;
  const present = caller && (await selection.authenticate(found));
  if (!isDeepStrictEqual(present, caller)) throw selection.changed('caller');
  const acts = application && (await callers.byId(tenantId, application.id));
  if (!isDeepStrictEqual(acts, application)) throw selection.changed('application');
  await seen.look(vault, tenantId);
}
