import type { IncomingMessage, ServerResponse } from 'node:http';
import { asServiceError, readTraceId } from '@sluice/problems';
import { CustomHttpResponse } from '@sluice/sandbox';
import { inBatches, lineWriter } from '@sluice/service-runtime';
import type { Context } from '../context.ts';
import type { Answer } from '../http/message.ts';
import { StageClock } from '../observation/stage-clock.ts';
import { beginInvocationTrace } from '../observation/trace.ts';
import { Invocation } from '../proxies/invocation.ts';
import { transformResponse } from '../transforms/response-transform.ts';
import { CallerGone, type Outcome } from './call-destination.ts';
import { invoke } from './invoke.ts';
import { sendAnswer, sendCustomResponse, sendProxyError } from './reply.ts';

export function serveInvocations(context: Context): (request: IncomingMessage, response: ServerResponse) => void {
  const { headerNames, log, metrics, places, tracing } = context;
  const logInvocation = lineWriter(log, 'invocation');
  const traceHeader = headerNames.traceId.toLowerCase();

  function answerFailure(thrown: unknown, invocation: Invocation): void {
    if (thrown instanceof CallerGone) return;
    const error = asServiceError(thrown);
    invocation.errorCode = error.code;
    context.refusals.note(error);
    if (error.status >= 500) {
      const ids = { trace_id: invocation.traceId, otel_trace_id: invocation.trace?.traceId };
      log.warn({ err: error.cause ?? error, ...ids }, 'invocation failed');
    }
    sendProxyError(invocation, thrown, context);
  }

  function answerAsTransformSays(thrown: unknown, invocation: Invocation): boolean {
    if (!(thrown instanceof CustomHttpResponse)) return false;
    invocation.clock.enter();
    sendCustomResponse(invocation, thrown, context);
    return true;
  }

  function failed(invocation: Invocation, thrown: unknown): void {
    invocation.revealing?.destroy();
    try {
      answerThrown(invocation, thrown);
    } catch (error) {
      log.error({ err: error, trace_id: invocation.traceId }, 'a failure could not be answered');
      invocation.response.destroy();
    }
    settle(invocation);
  }

  function answerThrown(invocation: Invocation, thrown: unknown): void {
    try {
      if (answerAsTransformSays(thrown, invocation)) return;
    } catch (error) {
      answerFailure(error, invocation);
      return;
    }
    answerFailure(thrown, invocation);
  }

  async function sendTransformed(invocation: Invocation, answer: Answer): Promise<void> {
    invocation.clock.enter('transform');
    const reply = await transformResponse(invocation, answer, context);
    invocation.clock.enter();
    sendAnswer(invocation, reply, context);
  }

  function answered(invocation: Invocation): void {
    invocation.revealing?.destroy();
    settle(invocation);
  }

  function settle(invocation: Invocation): void {
    invocation.isSettled = true;
    giveBytesBack(invocation);
  }

  const outcome: Outcome = {
    answered,
    failed,
    collected(invocation, answer) {
      sendTransformed(invocation, answer).then(
        () => answered(invocation),
        (error: unknown) => failed(invocation, error),
      );
    },
  };

  const begin = inBatches((invocation: Invocation) => {
    // The caller may have left before the batch began
    if (!invocation.response.destroyed) invoke(invocation, context, outcome);
  });

  /** Callers who leave must not free bytes that are still held, so both flags are awaited. */
  function giveBytesBack({ held, isClosed, isSettled }: Invocation): void {
    if (!isClosed || !isSettled) return;
    held.request?.release();
    held.answer?.release();
  }

  function finish(invocation: Invocation): void {
    const { request, response, clock, trace, traceId, proxy, caller, tokens, destinationStatus } = invocation;
    clock.enter();
    if (invocation.hasPlace) places.giveBack(proxy.tenantId);
    invocation.isClosed = true;
    invocation.held.request?.stopWaiting();
    invocation.held.answer?.stopWaiting();
    giveBytesBack(invocation);
    if (!response.writableFinished) invocation.errorCode ??= 'caller_gone';
    const durationMs = performance.now() - clock.startedAt;
    metrics.finished(invocation, response.statusCode, durationMs);
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
