import type { RequestOutcome } from '@sluice/service-runtime';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';

/** An allow-list of members, without query, headers and body. */
export function accessLog(log: Logger) {
  return pinoHttp<Request, Response>({
    logger: log,
    serializers: { req: () => undefined, res: () => undefined },
    customSuccessObject: lineOf,
    customErrorObject: (request, response, _error, values) => lineOf(request, response, values),
    customSuccessMessage: () => 'request',
    customErrorMessage: () => 'request',
    customLogLevel: (_request, response) => (response.statusCode >= 500 ? 'error' : 'info'),
  });
}

/** Not the requested path, because a caller may put a card number in place of an id. */
function pathOf(request: Request): string | undefined {
  const route: unknown = request.route;
  return typeof route === 'object' && route !== null && 'path' in route ? String(route.path) : undefined;
}

export function outcomeOf(request: Request, response: Response): RequestOutcome {
  const { errorCode, limit, tenantId, traceId } = response.locals;
  return {
    route: pathOf(request),
    status: response.statusCode,
    errorCode,
    limit,
    tenantId,
    traceId,
    isComplete: response.writableFinished,
  };
}

function lineOf(request: Request, response: Response, { responseTime }: { responseTime: number }) {
  return {
    trace_id: response.locals.traceId,
    otel_trace_id: response.locals.spanTraceId,
    method: request.method,
    path: pathOf(request),
    status: response.statusCode,
    duration_ms: responseTime,
  };
}
