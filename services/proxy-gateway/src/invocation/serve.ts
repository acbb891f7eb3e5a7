import type { IncomingMessage, ServerResponse } from 'node:http';
import { asServiceError, readTraceId } from '@sluice/problems';
import { CustomHttpResponse } from '@sluice/sandbox';
import { inBatches, lineWriter } from '@sluice/service-runtime';
import type { Context } from '../context.ts';
import { ValueReturned } from '../guard/response-guard.ts';
import { noteGuardHits } from '../observation/note-guard-hits.ts';
import { StageClock } from '../observation/stage-clock.ts';
import { beginInvocationTrace } from '../observation/trace.ts';
import { Invocation } from '../proxies/invocation.ts';
import { CallerGone } from './call-destination.ts';
import { invoke } from './invoke.ts';
import { openGuard } from './open-guard.ts';
import { sendCustomResponse, sendProxyError } from './reply.ts';

export function serveInvocations(context: Context): (request: IncomingMessage, response: ServerResponse) => void {
  const { headerNames, log, metrics, noteEnded, places, tracing } = context;
  const logInvocation = lineWriter(log, 'invocation');
  const traceHeader = headerNames.traceId.toLowerCase();

  const begin = inBatches((invocation: Invocation) => {
    // The caller may have left before the batch began
    if (!invocation.response.destroyed) void run(invocation);
  });

  async function run(invocation: Invocation): Promise<void> {
    try {
      await invoke(invocation, context);
    } catch (thrown) {
      answerThrown(invocation, invocation.acting?.guard ? await toBeGuarded(invocation, thrown) : thrown);
    }
    invocation.isSettled = true;
    giveBytesBack(invocation);
  }

  /** The error to answer with, because without its guard nothing else may be. */
  async function toBeGuarded(invocation: Invocation, thrown: unknown): Promise<unknown> {
    if (invocation.response.headersSent || thrown instanceof CallerGone) return thrown;
    try {
      await openGuard(invocation);
      return thrown;
    } catch (error) {
      return error;
    }
  }

  function answerThrown(invocation: Invocation, thrown: unknown): void {
    try {
      if (thrown instanceof CustomHttpResponse) answerAsTransformSays(invocation, thrown);
      else answerFailureGuarded(invocation, thrown);
    } catch (error) {
      log.error({ err: error, trace_id: invocation.traceId }, 'a failure could not be answered');
      invocation.response.destroy();
    }
  }

  function answerAsTransformSays(invocation: Invocation, custom: CustomHttpResponse): void {
    try {
      sendCustomResponse(invocation, custom, context);
    } catch (error) {
      answerFailureGuarded(invocation, error);
    }
  }

  function answerFailureGuarded(invocation: Invocation, thrown: unknown): void {
    try {
      answerFailure(invocation, thrown);
    } catch (error) {
      if (!(error instanceof ValueReturned) || thrown instanceof ValueReturned) throw error;
      answerFailure(invocation, error);
    }
  }

  function answerFailure(invocation: Invocation, thrown: unknown): void {
    if (thrown instanceof CallerGone) return;
    const error = asServiceError(thrown);
    invocation.errorCode = error.code;
    invocation.errorDetail = error.code.startsWith('destination_') ? error.detail : undefined;
    context.refusals.note(error);
    if (error.status >= 500) {
      const ids = { trace_id: invocation.traceId, otel_trace_id: invocation.trace?.traceId };
      log.warn({ err: error.cause ?? error, ...ids }, 'invocation failed');
    }
    sendProxyError(invocation, thrown, context);
  }

  /** A caller who leaves must not release memory that is still in use, so both flags must be set. */
  function giveBytesBack({ acting, isClosed, isSettled }: Invocation): void {
    if (isClosed && isSettled) acting?.memory.release();
  }

  function finish(invocation: Invocation): void {
    const { request, response, clock, trace, traceId, acting, tokens, destinationStatus } = invocation;
    const { owner: proxy, caller } = acting ?? {};
    clock.enter();
    if (acting?.hasPlace) places.giveBack(acting.tenantId);
    invocation.isClosed = true;
    giveBytesBack(invocation);
    if (invocation.responseGuard) noteGuardHits(invocation, context);
    if (!response.writableFinished) invocation.errorCode ??= 'caller_gone';
    const durationMs = performance.now() - clock.startedAt;
    metrics.finished(invocation, response.statusCode, durationMs);
    noteEnded(invocation, durationMs);
    const ids = { proxyId: proxy?.id, tenantId: proxy?.tenantId };
    trace?.end({ ...ids, tokens, errorCode: invocation.errorCode, destinationStatus, status: response.statusCode });
    logInvocation({
      trace_id: traceId,
      otel_trace_id: trace?.traceId,
      proxy_id: proxy?.id,
      tenant_id: proxy?.tenantId,
      application_id: caller?.applicationId ?? caller?.id,
      session_id: caller?.type === 'session' ? caller.id : undefined,
      method: request.method,
      status: response.statusCode,
      destination_status: destinationStatus,
      tokens,
      duration_ms: Math.round(durationMs * 100) / 100,
      complete: response.writableFinished,
    });
  }

  return (request, response) => {
    const clock = new StageClock();
    const trace = tracing && beginInvocationTrace(tracing, request, clock);
    const traceId = readTraceId(request.headers[traceHeader], trace?.traceId);
    const invocation = new Invocation(request, response, { clock, trace, traceId });
    response.sendDate = false;
    response.on('close', () => finish(invocation));
    begin(invocation);
  };
}
