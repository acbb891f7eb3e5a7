import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { problemContentType, ServiceError, toProblem } from '@sluice/problems';
import type { ServiceName } from './routes.ts';

export interface Failure {
  error: ServiceError;
  service: ServiceName;
  headerPrefix: string;
}

/** The error if a service did not answer. It may have acted on the request all the same. */
export function serviceAway(service: ServiceName): ServiceError {
  return new ServiceError('unavailable', `The ${service} service cannot be reached`, {
    retryAfterSeconds: 1,
  });
}

/** Sends the ingress's own answer: a problem document (RFC 9457), inside `proxy_error` for an invocation. */
export function answerFailure(request: IncomingMessage, response: ServerResponse, failure: Failure): void {
  const { error, service, headerPrefix } = failure;
  const traceHeader = `${headerPrefix}-TRACE-ID`;
  const given = request.headers[traceHeader.toLowerCase()];
  const traceId = typeof given === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(given) ? given : randomUUID();
  const problem = toProblem(error, traceId);
  const isInvocation = service === 'proxy-gateway';
  const body = JSON.stringify(isInvocation ? { proxy_error: problem } : problem);
  const headers: Record<string, string | number> = {
    'content-type': isInvocation ? 'application/json' : problemContentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...(error.retryAfterSeconds !== undefined && { 'retry-after': error.retryAfterSeconds }),
    [traceHeader]: traceId,
  };
  response.writeHead(problem.status, headers).end(body);
}
