import { holds } from '@sluice/access';
import { actorTypeOf, type Caller, Judgement, readCallers } from '@sluice/credentials';
import { type Queryable, runArguments, runConsole, runResult } from '@sluice/database';
import { requireSame } from '@sluice/http-api';
import { asServiceError, ServiceError, toProblem } from '@sluice/problems';
import type { ConsoleLine } from '@sluice/sandbox';
import { createTokens, decryptSecret, type Json, prepareSecret, readTokenization } from '@sluice/vault';
import type { Context } from '../../context.ts';
import { nextCdnLoop } from '../../http/cdn-loop.ts';
import type { ReactorOutcome } from '../reactor-run.ts';
import { RunNotes } from '../run-notes.ts';
import { answerOf, type RunningReactors, runReactor } from '../run-reactor.ts';
import { type Claim, type ClaimedRun, endRun, markRun, type RunEnd, releaseRun } from './run.queries.ts';
import { type RunLimits, requireRoomForResults } from './runs.ts';

export type RunningRuns = RunningReactors & Pick<Context, 'db' | 'vault' | 'callers' | 'caches' | 'noteEnded' | 'log'>;

/** A run that fails because something was unavailable begins again, unless it has begun this often. */
const mostTries = 5;
/** Before the second try. The pauses before the next ones are each four times as long. */
const firstPauseMs = 1000;

/** Another process has taken over the run, or it was cancelled. Its outcome in this process must be discarded. */
export class RunLost extends Error {
  constructor() {
    super('The run was cancelled, or its lease has passed');
  }
}

interface Claimed {
  context: RunningRuns;
  limits: Pick<RunLimits, 'keptBytes'>;
  /** Aborts with {@link RunLost}. */
  signal: AbortSignal;
}

/** @returns the pause before its next try, in ms; undefined if it has ended, or another process has taken it over. */
export async function runClaimed(
  claim: Claim,
  run: ClaimedRun,
  { context, limits, signal }: Claimed,
): Promise<number | undefined> {
  let isMarked = run.marked_at !== null;
  let printed: readonly ConsoleLine[] = [];
  const { db, log, noteEnded } = context;
  const notes = notesOf(claim, run);
  const names = { tenant_id: claim.tenantId, run_id: claim.id, trace_id: run.trace_id };
  try {
    const { caller, look } = await findAsker(claim, run, context);
    notes.acting = { owner: ownerOf(claim, run), caller };
    await requireRoomForResults(db, claim.tenantId, limits); // others may have filled it while this run waited
    const outcome = await runReactor(
      {
        reactorId: run.reactor_id,
        args: await readArguments(claim, run, context),
        caller,
        look,
        signal,
        traceId: run.trace_id,
        notes,
        wallMs: run.timeout_ms,
        noCallerWaits: true,
        cdnLoop: nextCdnLoop(run.cdn_loop ?? undefined),
        async beforeFirstEffect() {
          if (!(await markRun(db, claim))) throw new RunLost();
          isMarked = true;
        },
        onConsole: (lines) => {
          printed = lines;
        },
      },
      context,
    );
    await keepOutcome(
      claim,
      { outcome, printed, actor: { ...caller, actorType: actorTypeOf(caller), traceId: run.trace_id, look } },
      context,
    );
    noteEnded(notes, notes.durationMs);
    return undefined;
  } catch (error) {
    if (error instanceof RunLost) return undefined;
    const failure = asServiceError(error);
    if (failure.code === 'internal') log.error({ err: error, ...names }, 'a run of a reactor failed');
    const mayRepeat = (!isMarked || run.retryable) && run.tries < mostTries;
    const pauseMs = firstPauseMs * 4 ** (run.tries - 1);
    if (failure.code === 'unavailable' && mayRepeat && (await releaseRun(db, claim, pauseMs))) return pauseMs;
    const text = JSON.stringify({ error: toProblem(error, run.trace_id) });
    const end = await prepareEnd(claim, printed, context);
    const isEnded = await db.transaction().execute((tx) => endRun(tx, claim, end('failed', text)));
    if (!isEnded) return undefined;
    notes.response.statusCode = failure.status;
    notes.errorCode = failure.code;
    noteEnded(notes, notes.durationMs);
    return undefined;
  }
}

/** Of a session only its own row tells the Application, so until it is found there is none. */
function notesOf(claim: Claim, run: ClaimedRun): RunNotes {
  const caller = run.caller_type === 'application' ? { id: run.created_by } : undefined;
  return new RunNotes(run.trace_id, { owner: ownerOf(claim, run), caller });
}

function ownerOf({ tenantId }: Claim, { reactor_id: id }: ClaimedRun) {
  return { id, tenantId };
}

/** Finds the caller and its current rights; `look` compares with them. @throws {ServiceError} 401, 403 if it lost them. */
async function findAsker({ tenantId }: Claim, { caller_type, created_by }: ClaimedRun, context: RunningRuns) {
  const find = async (tx?: Queryable): Promise<Caller> => {
    const { bySessionId, byId } = tx ? readCallers(tx) : context.callers;
    const found = await (caller_type === 'session' ? bySessionId : byId)(tenantId, created_by);
    if (!found)
      throw new ServiceError(
        'unauthenticated',
        `The ${caller_type} ${created_by}, which requested this run, no longer exists`,
      );
    if (!holds(found, 'token:use'))
      throw new ServiceError('forbidden', 'The caller that requested this run needs the permission token:use');
    return found;
  };
  const judgement = new Judgement(context.caches);
  const caller = await find();
  judgement.endsAt(caller.expiresAt);
  return { caller, look: (tx?: Queryable) => judgement.look(() => requireSame(caller, find(tx))) };
}

async function readArguments(
  claim: Claim,
  { arguments_ciphertext: ciphertext }: ClaimedRun,
  { vault }: RunningRuns,
): Promise<Json> {
  if (!ciphertext) throw new Error('A run that waits has arguments');
  const text = await decryptSecret(vault, { ...placeOf(claim), ...runArguments }, ciphertext);
  try {
    return JSON.parse(text.toString());
  } finally {
    text.fill(0);
  }
}

interface Ending {
  outcome: ReactorOutcome;
  printed: readonly ConsoleLine[];
  actor: Parameters<typeof readTokenization>[1];
}

/** Creates the tokens, stores the result and ends the run in one transaction. @throws {RunLost} without creating any token. */
async function keepOutcome(
  claim: Claim,
  { outcome, printed, actor }: Ending,
  { db, vault }: RunningRuns,
): Promise<void> {
  const end = await prepareEnd(claim, printed, { vault });
  const keep = async (tx: Queryable, tokens: Json | undefined) => {
    if (!(await endRun(tx, claim, end('done', answerOf(outcome, tokens))))) throw new RunLost();
  };
  if (outcome.tokenize === undefined) return db.transaction().execute((tx) => keep(tx, undefined));
  const { tokens, draft, fill } = await readTokenization(vault, actor, outcome.tokenize);
  if (tokens === 0) return db.transaction().execute((tx) => keep(tx, fill([])));
  await createTokens(await draft(), { answerTo: fill, settle: keep });
}

/** @returns a function that encrypts without waiting, because it is called in a transaction. */
async function prepareEnd(claim: Claim, printed: readonly ConsoleLine[], { vault }: Pick<RunningRuns, 'vault'>) {
  const place = placeOf(claim);
  const sealResult = await prepareSecret(vault, { ...place, ...runResult });
  const sealConsole = printed.length === 0 ? undefined : await prepareSecret(vault, { ...place, ...runConsole });
  const consoleCiphertext = sealConsole?.(JSON.stringify(printed));
  return (state: RunEnd['state'], text: string): RunEnd => ({
    state,
    resultCiphertext: sealResult(text),
    consoleCiphertext,
  });
}

function placeOf({ tenantId, id }: Claim) {
  return { tenantId, recordId: id };
}
