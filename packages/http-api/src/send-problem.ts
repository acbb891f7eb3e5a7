import {
  asServiceError,
  endRefusal,
  errorCodes,
  helpLink,
  type Problem,
  problemContentType,
  retryHeaderNames,
  ServiceError,
  toErrorMember,
  toProblem,
} from '@sluice/problems';
import { isEndCertain } from '@sluice/service-runtime';
import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';

export const problemCodes: readonly string[] = Object.keys(errorCodes);

export const requestLimits: readonly string[] = [
  'body_bytes',
  'body_size',
  'data_size',
  'database_connections',
  'disclosures_waiting',
  'failed_sign_ins',
  'filters',
  'headers',
  'invitations',
  'opened_data',
  'page_size',
  'public_tokens',
  'result_size',
  'row_changes',
  'session_requests',
  'sessions',
  'streams',
];

/** The only place that writes errors. Details that the response hides are logged. */
export function sendProblem(log: Logger, { linksHelp = false } = {}) {
  // Express recognizes an error handler by its four parameters.
  return (thrown: unknown, request: Request, response: Response, _next: NextFunction): void => {
    const error = isBadPath(thrown)
      ? new ServiceError('bad_request', 'The path has a percent escape that cannot be decoded')
      : asServiceError(thrown);
    response.locals.errorCode = error.code;
    response.locals.limit = error.limit;
    const { traceId } = response.locals;
    if (error.status >= 500) log.error({ err: error.cause ?? error, trace_id: traceId }, 'request failed');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (error.retryAfterSeconds !== undefined) response.setHeader('Retry-After', error.retryAfterSeconds);
    if (error.entityTag !== undefined) response.setHeader('ETag', error.entityTag);
    if (linksHelp) response.setHeader('Link', helpLink(error.code));
    const problem = shorten(toProblem(error, traceId));
    // A published client with a wrong base URL reaches an unknown path, so the response must explain this.
    const isUnknownPath = error.code === 'not_found' && request.route === undefined;
    if (isUnknownPath) for (const name of retryHeaderNames) response.setHeader(name, 'false');
    const body = JSON.stringify(isUnknownPath ? { ...problem, error: toErrorMember(error) } : problem);
    const framing = {
      'Content-Type': `${problemContentType}; charset=utf-8`,
      'Content-Length': Buffer.byteLength(body),
    };
    if (isEndCertain(request)) {
      response.writeHead(error.status, framing);
      endRefusal(response, body);
    } else {
      response.writeHead(error.status, { ...framing, Connection: 'close' }).end(body);
    }
  };
}

/** The number and the length of faults can be as large as the body. */
function shorten({ detail, errors, ...rest }: Problem): Problem {
  const short = { ...rest, detail: detail.slice(0, 1000) };
  if (!errors) return short;
  const named = Object.entries(errors).slice(0, 100);
  const fields = named.map(([path, messages]) => [path.slice(0, 200), messages.map((text) => text.slice(0, 200))]);
  return { ...short, errors: Object.fromEntries(fields) };
}

function isBadPath(thrown: unknown): boolean {
  return thrown instanceof URIError;
}
