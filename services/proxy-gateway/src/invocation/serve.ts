import type { IncomingMessage, ServerResponse } from 'node:http';
import { asServiceError, readTraceId } from '@sluice/problems';
import { inBatches, lineWriter } from '@sluice/service-runtime';
import type { Context } from '../context.ts';
import type { InvocationRecord } from '../observation/record.ts';
import { StageClock } from '../observation/stage-clock.ts';
import { beginInvocationTrace } from '../observation/trace.ts';
import { CallerGone } from './call-destination.ts';
import type { InvocationOptions } from './invocation-options.ts';
import { invoke } from './invoke.ts';
import { sendProxyError } from './reply.ts';

interface Begun {
  request: IncomingMessage;
  response: ServerResponse;
  invocation: InvocationOptions;
}

/** Answers a request: the invocation, its failures as `proxy_error`, its line in the access log, its measurements. */
export function serveInvocations(context: Context): (request: IncomingMessage, response: ServerResponse) => void {
  const { headerNames, log, metrics, places, tracing } = context;
  const logInvocation = lineWriter(log, 'invocation');
  const traceHeader = headerNames.traceId.toLowerCase();

  function fail(thrown: unknown, { response, invocation }: Begun): void {
    if (thrown instanceof CallerGone) return;
    const { record, traceId } = invocation;
    const error = asServiceError(thrown);
    record.errorCode = error.code;
    if (error.status >= 500) {
      const ids = { trace_id: traceId, otel_trace_id: record.trace?.traceId };
      log.warn({ err: error.cause ?? error, ...ids }, 'invocation failed');
    }
    sendProxyError(response, thrown, invocation);
  }

  const begin = inBatches((begun: Begun) => {
    const { request, response, invocation } = begun;
    if (response.destroyed) return; // the caller left at once
    invoke(request, response, invocation)
      .catch((thrown: unknown) => fail(thrown, begun))
      .catch((error: unknown) => {
        // Nobody would hear of it, and the process would end.
        log.error({ err: error, trace_id: invocation.traceId }, 'a failure could not be answered');
        response.destroy();
      });
  });

  return (request, response) => {
    const clock = new StageClock();
    const trace = tracing && beginInvocationTrace(tracing, request, clock);
    const traceId = readTraceId(request.headers[traceHeader], trace?.traceId);
    const record: InvocationRecord = { clock, trace };
    const invocation = { context, traceId, record };
    response.sendDate = false;
    response.on('close', () => {
      record.clock.enter();
      if (record.hasPlace && record.tenantId !== undefined) places.giveBack(record.tenantId);
      if (!response.writableFinished) record.errorCode ??= 'caller_gone';
      const durationMs = performance.now() - record.clock.startedAt;
      metrics.finished(record, response.statusCode, durationMs);
      if (trace) {
        const { tenantId, proxyId, tokens, errorCode, destinationStatus } = record;
        trace.end({ tenantId, proxyId, tokens, errorCode, destinationStatus, status: response.statusCode });
      }
      logInvocation({
        trace_id: traceId,
        otel_trace_id: trace?.traceId,
        proxy_id: record.proxyId,
        tenant_id: record.tenantId,
        application_id: record.applicationId,
        method: request.method,
        status: response.statusCode,
        destination_status: record.destinationStatus,
        tokens: record.tokens,
        duration_ms: Math.round(durationMs * 100) / 100,
        complete: response.writableFinished,
      });
    });
    begin({ request, response, invocation });
  };
}
