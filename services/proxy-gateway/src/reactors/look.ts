import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import type { ReactorDefinition } from './definition.ts';
import { type FindingReactors, findReactor, reactorNotFound } from './find-reactor.ts';
import type { Running } from './running.ts';

export type Looking = FindingReactors & Pick<Context, 'vault' | 'callers'>;

/** Checks rights before the code gets values. @throws {ServiceError} as {@link lookAgain}; 503 if the reactor has changed. */
export function lookBeforeCode(running: Running, context: Looking): Promise<void> {
  return lookAt(running, context, (found) => isDeepStrictEqual(found, running.reactor));
}

/**
 * Checks rights before a call of `fetch` and before the response. A run keeps the code with which it began, even if the reactor
 * has new code. @throws {ServiceError} 401, 403, 404 or 400 if the caller, the reactor or a token is gone; 503 for changed rights.
 */
export function lookAgain(running: Running, context: Looking): Promise<void> {
  return lookAt(running, context, ({ applicationId }) => applicationId === running.reactor.applicationId);
}

async function lookAt(
  { run, reactor, application, judgement, seen }: Running,
  context: Looking,
  isSame: (found: ReactorDefinition) => boolean,
): Promise<void> {
  run.signal.throwIfAborted();
  await run.look();
  await judgement.look(async () => {
    const found = await findReactor(reactor, context);
    if (!found) throw reactorNotFound(reactor.id);
    if (found !== reactor && !isSame(found)) throw changed('reactor');
    const acting = application && (await context.callers.byId(reactor.tenantId, application.id));
    if (!isDeepStrictEqual(acting, application)) throw changed('Application of this reactor');
    await seen.look(context.vault, reactor.tenantId);
  });
}

function changed(what: string): ServiceError {
  return new ServiceError('unavailable', `The ${what} has changed during the run; try again`, { retryAfterSeconds: 1 });
}
