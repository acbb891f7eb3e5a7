import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { forBrowsers, type HostKind } from '@sluice/hosts';
import { helpLink, problemRefusal, proxyRefusal, ServiceError } from '@sluice/problems';
import type { ServiceName } from './routes.ts';

export interface Failure {
  error: ServiceError;
  service: ServiceName;
  hostKind: HostKind;
  headerPrefix: string;
}

/** The error if a service did not answer. The service may have acted on the request nevertheless. */
export function serviceAway(service: ServiceName): ServiceError {
  return new ServiceError('unavailable', `The ${service} service cannot be reached`, {
    retryAfterSeconds: 1,
  });
}

/** Sends the ingress's own answer: a problem document (RFC 9457), inside `proxy_error` for an invocation. */
export function answerFailure(request: IncomingMessage, response: ServerResponse, failure: Failure): void {
  const { error, service, hostKind, headerPrefix } = failure;
  const traceHeader = `${headerPrefix}-TRACE-ID`;
  const given = request.headers[traceHeader.toLowerCase()];
  const traceId = typeof given === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(given) ? given : randomUUID();
  const toRefusal = service === 'proxy-gateway' ? proxyRefusal : problemRefusal;
  const hasHelp = service !== 'proxy-gateway' && (hostKind === 'base' || hostKind === 'console');
  const { status, headers, body } = toRefusal(error, traceId);
  const help = hasHelp ? ['Link', helpLink(error.code)] : [];
  const all = [...headers, ...help, 'Cache-Control', 'no-store', traceHeader, traceId];
  response.writeHead(status, service === 'proxy-gateway' ? forBrowsers(request, all) : all).end(body);
}
