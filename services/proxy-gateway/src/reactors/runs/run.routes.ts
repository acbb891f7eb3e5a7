import { randomUUID } from 'node:crypto';
import { recordChange } from '@sluice/audit';
import { actorTypeOf, type Caller } from '@sluice/credentials';
import { type Queryable, runResult as resultPlace, runArguments } from '@sluice/database';
import { JsonText, operationsOf, Reply, transaction } from '@sluice/http-api';
import { ServiceError, toProblem } from '@sluice/problems';
import { decryptSecret, encryptSecret, type Json, requireExactNumbers } from '@sluice/vault';
import type { Context } from '../../context.ts';
import { nextCdnLoop } from '../../http/cdn-loop.ts';
import { reactorParams } from '../react.schema.ts';
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
  summary: 'Run the code of a reactor later, and ask for its result',
  description:
    'As react, but the answer comes at once and the result is kept for 24 hours. Arguments wait encrypted, and their expressions are evaluated when the run begins, with the rights that the caller has then. A run is never repeated once it may have called out, unless the reactor is `retryable`: if its gateway ends then, the run fails.',
  method: 'post',
  path: '/reactors/:id/react-async',
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
    const { retryable } = await selectReactor({ reactorId: params.id, caller }, context);
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
  summary: 'Ask for the result of an asynchronous run',
  description:
    'For the Application or session that asked for the run; for others it does not exist. While it waits or runs the answer is 202. 24 hours after its end, and once it is cancelled, it is 404.',
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
  if (failure === 'overdue')
    return new ServiceError('unavailable', 'The run waited for 24 hours without being started, so it was ended');
  const detail = marked_at
    ? 'The run was interrupted after it had begun to call out, so it was not repeated'
    : 'The run was interrupted each time that it began';
  return new ServiceError('reactor_failed', detail);
}

const cancelResult = operation({
  id: 'cancelReactorResult',
  tag: 'Reactors',
  summary: 'Cancel an asynchronous run that has not begun to call out',
  description:
    'For the Application or session that asked for the run. Nothing of it has been or will be sent, changed or tokenized. If it runs, its code is stopped within seconds. 409 once it calls out or has ended.',
  method: 'delete',
  path: '/reactors/:id/results/:requestId',
  permission: 'token:use',
  params: runParams,
  response: { 204: null },
  errors: ['not_found', 'conflict'],
  async handle({ params, caller, traceId, look }, { db }) {
    const asked = askedBy(caller, params);
    const isCancelled = await db.transaction().execute(async (tx) => {
      const isCancelled = await cancelRun(tx, asked);
      if (isCancelled) await recordCancelling(tx, asked, { caller, traceId });
      await look(tx);
      return isCancelled;
    });
    if (isCancelled) return undefined;
    const run = await findRun(db, asked);
    if (!run) throw noRun(asked);
    const state = run.state === 'running' ? 'has begun to call out' : 'has ended, or may have called out before';
    throw new ServiceError('conflict', `The run ${state}, so it cannot be cancelled`);
  },
});

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
  return new ServiceError('not_found', `There is no run ${id} of this reactor that you asked for`);
}

export const runOperations = [reactAsync, getResult, cancelResult];
