import { asServiceError, problemContentType, ServiceError, toProblem } from '@sluice/problems';
import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';

/** The one place that writes errors. What the answer does not say goes to the log. */
export function sendProblem(log: Logger) {
  // Express tells an error handler by its four parameters.
  return (thrown: unknown, request: Request, response: Response, _next: NextFunction): void => {
    const error = isBadPath(thrown) ? new ServiceError('bad_request', 'The path is not valid') : asServiceError(thrown);
    const { traceId } = response.locals;
    if (error.status >= 500) log.error({ err: error.cause ?? error, trace_id: traceId }, 'request failed');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (error.retryAfterSeconds !== undefined) response.setHeader('Retry-After', error.retryAfterSeconds);
    // What is left of a refused body is not read; the connection cannot be used again.
    if (!request.complete) response.setHeader('Connection', 'close');
    response
      .status(error.status)
      .type(problemContentType)
      .send(JSON.stringify(toProblem(error, traceId)));
  };
}

/** The router throws a URIError for percent escapes that do not decode. */
function isBadPath(thrown: unknown): boolean {
  return thrown instanceof URIError;
}
