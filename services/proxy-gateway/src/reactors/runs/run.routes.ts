import { randomUUID } from 'node:crypto';
import { recordChange } from '@sluice/audit';
import { actorTypeOf, type Caller } from '@sluice/credentials';
import { type Queryable, type ReactorRunState, runResult as resultPlace, runArguments } from '@sluice/database';
import { JsonText, operationsOf, Reply, transaction } from '@sluice/http-api';
import { ServiceError, toProblem } from '@sluice/problems';
import { decryptSecret, encryptSecret, type Json, requireExactNumbers } from '@sluice/vault';
import type { Context } from '../../context.ts';
import { nextCdnLoop } from '../../http/cdn-loop.ts';
import { reactorParams } from '../react.schema.ts';
import { notesOfCall, reactAsyncPath } from '../react-calls.ts';
import { RunNotes } from '../run-notes.ts';
import { selectReactor } from '../run-reactor.ts';
import {
  type AskedRun,
  cancelRun,
  countWaiting,
  type FoundRun,
  findResult,
  findRun,
  insertRun,
} from './run.queries.ts';
import { asyncReaction, reactAsyncBody, runParams, runResult } from './run.schema.ts';
import { limited, requireRoomForResults } from './runs.ts';

const operation = operationsOf<Context>();

const reactAsync = operation({
  id: 'reactAsync',
  tag: 'Reactors',
  summary: 'Start an asynchronous run of a reactor',
  description:
    'Like react, but the response is sent at once, and the result is stored for 24 hours. Arguments are stored encrypted. Their expressions are evaluated when the run starts, with the permissions that the caller has then. If the gateway that runs the code stops, another gateway starts the run again. Exception: the code may already have called another service, and the reactor is not `retryable`. Then the run fails.',
  method: 'post',
  path: reactAsyncPath,
  permission: 'token:use',
  params: reactorParams,
  body: reactAsyncBody,
  opaque: ['args'],
  response: { 202: asyncReaction },
  errors: ['not_found', 'loop_detected'],
  async handle({ params, body, header, caller, traceId, look, settle }, context) {
    const { db, vault, runs, runLimits, rateLimits } = context;
    const { tenantId } = caller;
    const cdnLoop = header('cdn-loop');
    nextCdnLoop(cdnLoop);
    const sent = (body.args ?? {}) as Json;
    requireExactNumbers('args', sent);
    const reactor = await selectReactor({ reactorId: params.id, caller }, context);
    const { retryable } = reactor;
    notesOfCall().acting = { owner: reactor, caller };
    await rateLimits?.countCaller(caller);
    await requireRoomForResults(db, tenantId, runLimits);
    const id = randomUUID();
    const args = JSON.stringify(sent);
    const run = {
      ...{ tenantId, id, reactorId: params.id, traceId, cdnLoop, retryable },
      createdBy: caller.id,
      callerType: caller.type === 'session' ? ('session' as const) : ('application' as const),
      timeoutMs: body.timeout_ms,
      argumentsCiphertext: await encryptSecret(vault, { tenantId, recordId: id, ...runArguments }, args),
    };
    const answer = { async_reactor_request_id: id };
    await transaction(db, { settle }, async (tx) => {
      if ((await countWaiting(tx, tenantId, runLimits.waiting)) >= runLimits.waiting) {
        throw limited('reactor_runs', `This Tenant has reached its limit of ${runLimits.waiting} waiting runs`);
      }
      await insertRun(tx, run);
      await look(tx);
      return { answer };
    });
    runs.begin(tenantId, id);
    return answer;
  },
});

/** A ciphertext comes as hexadecimal, twice as long: as a message and as text; then decoded, and decrypted. */
const copiesOfResult = 6;

const getResult = operation({
  id: 'getReactorResult',
  tag: 'Reactors',
  summary: 'Get the result of an asynchronous run',
  description:
    'Only for the Application or session that requested the run. For others the response is 404. It is also 404 after the run was cancelled, and 24 hours after the run ended. While the run is queued or running, the response is 202.',
  method: 'get',
  path: '/reactors/:id/results/:requestId',
  permission: 'token:use',
  params: runParams,
  showsSecrets: true,
  response: { 200: runResult, 202: asyncReaction },
  errors: ['not_found'],
  async handle({ params, caller, hold }, { db, vault }) {
    const asked = askedBy(caller, params);
    const run = await findRun(db, asked);
    if (!run) throw noRun(asked);
    if (run.state === 'waiting' || run.state === 'running') {
      return new Reply(202, { async_reactor_request_id: asked.id }, { 'Retry-After': '1' });
    }
    if (run.result_bytes === null) return { error: toProblem(failureOf(run), run.trace_id) };
    await hold(copiesOfResult * run.result_bytes);
    const ciphertext = await findResult(db, asked);
    if (!ciphertext) throw noRun(asked);
    const place = { tenantId: asked.tenantId, recordId: asked.id, ...resultPlace };
    return new JsonText((await decryptSecret(vault, place, ciphertext)).toString());
  },
});

/** The error of a run that the worker ended, because no gateway did. */
function failureOf({ failure, marked_at }: FoundRun): ServiceError {
  if (failure === 'overdue') return new ServiceError('unavailable', 'The run was queued for 24 hours, so it was ended');
  const detail = marked_at
    ? 'The run was interrupted after its code may have called another service, so it was not repeated'
    : 'The run was interrupted each time it was started';
  return new ServiceError('reactor_failed', detail);
}

const cancelResult = operation({
  id: 'cancelReactorResult',
  tag: 'Reactors',
  summary: 'Cancel an asynchronous run',
  description:
    'Cancels the run. Only for the Application or session that requested it. Once you have the response, the run sends, changes and tokenizes nothing more. Code that is running is stopped within seconds. If the code has called another service, or if the run has ended, the response is 409.',
  method: 'delete',
  path: '/reactors/:id/results/:requestId',
  permission: 'token:use',
  params: runParams,
  response: { 204: null },
  errors: ['not_found', 'conflict'],
  async handle({ params, caller, traceId, look }, { db, noteEnded }) {
    const asked = askedBy(caller, params);
    const cancelled = await db.transaction().execute(async (tx) => {
      const cancelled = await cancelRun(tx, asked);
      if (cancelled) await recordCancelling(tx, asked, { caller, traceId });
      await look(tx);
      return cancelled;
    });
    if (cancelled) {
      const { trace_id, started_at } = cancelled;
      const notes = new RunNotes(trace_id, { owner: { id: asked.reactorId, tenantId: asked.tenantId }, caller });
      notes.response.statusCode = 404; // as its result is answered from now on
      notes.errorCode = 'cancelled';
      // The time in the queue is not a duration
      noteEnded(notes, started_at === null ? 0 : Math.max(0, Date.now() - Date.parse(started_at)));
      return undefined;
    }
    const run = await findRun(db, asked);
    if (!run) throw noRun(asked);
    throw new ServiceError('conflict', `The run cannot be cancelled, because ${whyUncancelled[run.state]}`);
  },
});

const whyUncancelled: Record<ReactorRunState, string> = {
  waiting: 'its code may have called another service',
  running: 'its code has called another service',
  done: 'it has ended',
  failed: 'it has ended',
  cancelled: 'it has ended',
};

function recordCancelling(
  tx: Queryable,
  { tenantId, id, reactorId }: AskedRun,
  { caller, traceId }: { caller: Caller; traceId: string },
): Promise<void> {
  const { id: actorId, applicationId } = caller;
  const act = { tenantId, actorId, actorType: actorTypeOf(caller), traceId };
  return recordChange(tx, act, {
    operation: 'delete',
    entityType: 'reactor_run',
    entityId: id,
    message: 'Reactor run cancelled',
    detail: { reactor_id: reactorId, ...(applicationId !== undefined && { application_id: applicationId }) },
  });
}

function askedBy(
  { tenantId, id: createdBy }: { tenantId: string; id: string },
  params: { id: string; requestId: string },
): AskedRun {
  return { tenantId, id: params.requestId, reactorId: params.id, createdBy };
}

/** The same error for an unknown run and for another caller's. */
function noRun({ id }: AskedRun): ServiceError {
  return new ServiceError(
    'not_found',
    `The run ${id} of this reactor does not exist, or another caller requested the run`,
  );
}

export const runOperations = [reactAsync, getResult, cancelResult];
