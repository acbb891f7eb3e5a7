import { Judgement } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import type { Json } from '@sluice/vault';
import type { ReactorDefinition } from './definition.ts';
import { type FindingReactors, findReactor, reactorNotFound } from './find-reactor.ts';
import { type Looking, lookAgain } from './look.ts';
import type { ReactorOutcome, ReactorRun } from './reactor-run.ts';
import { type ReadingArgs, readArgs } from './read-args.ts';
import { type RunningCode, runCode } from './run-code.ts';
import { Running } from './running.ts';

export type RunningReactors = FindingReactors & ReadingArgs & RunningCode & Looking;

/**
 * Evaluates `args`, runs the code once, and settles when all calls that the code began have ended. The calling code must have
 * taken one of the `reactorPlaces`.
 * @throws {ServiceError} 404 for an unknown reactor; 403 for a reactor or a token that the caller may not use; 400 for `args`;
 * `reactor_failed`, or the status of an error of `svc-errors`, if the code fails; 401, 403, 404 and 503 if rights end or change
 * during the run; 503 if no thread is free.
 */
export async function runReactor(run: ReactorRun, context: RunningReactors): Promise<ReactorOutcome> {
  const judgement = new Judgement(context.caches);
  judgement.endsAt(run.caller.expiresAt);
  const running = new Running(run, await selectReactor(run, context), judgement);
  try {
    const argsJson = await readArgs(running, context);
    const outcome = await runCode(running, argsJson, context);
    await lookAgain(running, context);
    return outcome;
  } finally {
    running.release();
  }
}

/** @throws {ServiceError} 404 for an unknown reactor or another Tenant's; 403 if the session is limited to other reactors. */
export async function selectReactor(
  { reactorId: id, caller }: Pick<ReactorRun, 'reactorId' | 'caller'>,
  context: FindingReactors,
): Promise<ReactorDefinition> {
  const reactor = await findReactor({ tenantId: caller.tenantId, id }, context);
  if (!reactor) throw reactorNotFound(id);
  if (caller.reactors && !caller.reactors.includes(id))
    throw new ServiceError('forbidden', 'This session may not call this reactor');
  return reactor;
}

/** The body of the response. `tokens` is the code's `tokenize` with tokens in place of its values. */
export function answerOf({ resultJson }: ReactorOutcome, tokens: Json | undefined): string {
  if (tokens === undefined) return resultJson;
  const members = [resultJson.slice(1, -1), `"tokens":${JSON.stringify(tokens)}`].filter((text) => text !== '');
  return `{${members.join(',')}}`;
}
