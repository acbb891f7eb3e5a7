import type { Json } from '@sluice/vault';
import { admit } from '../acting/acting.ts';
import { type Looking, look } from '../acting/look.ts';
import type { Context } from '../context.ts';
import type { ReactorDefinition } from './definition.ts';
import type { FindingReactors } from './find-reactor.ts';
import { ReactorById } from './reactor-by-id.ts';
import type { ReactorOutcome, ReactorRun } from './reactor-run.ts';
import { type ReadingArgs, readArgs } from './read-args.ts';
import { type RunningCode, runReactorCode } from './run-reactor-code.ts';
import { Running } from './running.ts';

export type RunningReactors = FindingReactors & ReadingArgs & RunningCode & Looking & Pick<Context, 'caches'>;

/**
 * Evaluates `args`, runs the code once, and settles when all calls that the code began have ended. The calling code must have
 * taken one of the `reactorPlaces`.
 * @throws {ServiceError} 404 for an unknown reactor; 403 for a reactor or a token that the caller may not use; 400 for `args`;
 * `reactor_failed`, or the status of an error of `svc-errors`, if the code fails; 401, 403, 404 and 503 if rights end or change
 * during the run; 503 if no thread is free.
 */
export async function runReactor(run: ReactorRun, context: RunningReactors): Promise<ReactorOutcome> {
  const { clock } = run.notes;
  clock.enter('authenticate');
  const selection = new ReactorById(run, context);
  const acting = await admit(selection, context, { traceId: run.traceId });
  acting.admitCaller(await selection.authenticate(acting.owner));
  const running = new Running(run, acting);
  try {
    clock.enter('detokenize');
    const argsJson = await readArgs(running, context);
    clock.enter('transform');
    const ran = await Promise.allSettled([runReactorCode(running, argsJson, context)]);
    await look(acting, context); // before the outcome leaves, which may be an error of the code
    const [outcome] = ran;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  } finally {
    clock.enter();
    acting.memory.release();
  }
}

/** @throws {ServiceError} 404 for an unknown reactor or another Tenant's; 403 if the session is limited to other reactors. */
export async function selectReactor(
  named: Pick<ReactorRun, 'reactorId' | 'caller'>,
  context: FindingReactors,
): Promise<ReactorDefinition> {
  const selection = new ReactorById(named, context);
  const reactor = await selection.find();
  if (!reactor) throw selection.notFound();
  await selection.authenticate(reactor);
  return reactor;
}

/** The body of the response. `tokens` is the code's `tokenize` with tokens in place of its values. */
export function answerOf({ resultJson }: ReactorOutcome, tokens: Json | undefined): string {
  if (tokens === undefined) return resultJson;
  const members = [resultJson.slice(1, -1), `"tokens":${JSON.stringify(tokens)}`].filter((text) => text !== '');
  return `{${members.join(',')}}`;
}
