import type { IncomingMessage, ServerResponse } from 'node:http';
import { asServiceError, readTraceId } from '@sluice/problems';
import type { Context } from '../context.ts';
import { CallerGone } from './call-destination.ts';
import type { InvocationRecord } from './invocation-record.ts';
import { invoke } from './invoke.ts';
import { sendProxyError } from './reply.ts';
import { StageClock } from './stage-clock.ts';

/** Answers a request: the invocation, its failures as `proxy_error`, its line in the access log, its measurements. */
export function serveInvocations(context: Context): (request: IncomingMessage, response: ServerResponse) => void {
  const { headerNames, log, metrics, places } = context;
  const traceHeader = headerNames.traceId.toLowerCase();
  return (request, response) => {
    const traceId = readTraceId(request.headers[traceHeader]);
    const record: InvocationRecord = { clock: new StageClock() };
    const invocation = { context, traceId, record };
    response.sendDate = false;
    response.on('close', () => {
      record.clock.enter();
      if (record.hasPlace && record.tenantId !== undefined) places.giveBack(record.tenantId);
      const durationMs = performance.now() - record.clock.startedAt;
      metrics.finished(record, response.statusCode, durationMs);
      log.info(
        {
          trace_id: traceId,
          proxy_id: record.proxyId,
          tenant_id: record.tenantId,
          application_id: record.applicationId,
          method: request.method,
          status: response.statusCode,
          destination_status: record.destinationStatus,
          tokens: record.tokens,
          duration_ms: Math.round(durationMs * 100) / 100,
          complete: response.writableFinished,
        },
        'invocation',
      );
    });
    invoke(request, response, invocation)
      .catch((thrown: unknown) => {
        if (thrown instanceof CallerGone) return;
        const error = asServiceError(thrown);
        if (error.status >= 500) log.warn({ err: error.cause ?? error, trace_id: traceId }, 'invocation failed');
        sendProxyError(response, thrown, invocation);
      })
      .catch((error: unknown) => {
        // Nobody would hear of it, and the process would end.
        log.error({ err: error, trace_id: traceId }, 'a failure could not be answered');
        response.destroy();
      });
  };
}
