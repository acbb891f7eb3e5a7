import type { ServerResponse } from 'node:http';
import { asServiceError, endRefusal, ServiceError, toProblem } from '@sluice/problems';
import type { CustomHttpResponse } from '@sluice/sandbox';
import { isEndCertain } from '@sluice/service-runtime';
import type { Context } from '../context.ts';
import { findHeader, withoutHeaders } from '../http/header-list.ts';
import type { Answer } from '../http/message.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { writtenOf } from '../transforms/transform-message.ts';
import { ownHeaders } from './own-headers.ts';

const emptyStatuses = new Set([204, 205, 304]);

export function sendAnswer(invocation: Invocation, { status, reason, headers, body }: Answer, context: Context): void {
  const { response } = invocation;
  const framed = withoutHeaders(headers, 'content-length');
  const isBodiless = emptyStatuses.has(status) || response.req.method === 'HEAD';
  const length = isBodiless ? [] : ['Content-Length', `${body.length}`];
  writeHead(response, { status, reason, headers: [...framed, ...length, ...ownHeaders(invocation, status, context)] });
  response.end(isBodiless ? undefined : body);
}

export function writeHead(response: ServerResponse, { status, reason, headers }: Omit<Answer, 'body'>): void {
  if (reason === undefined) response.writeHead(status, headers);
  else response.writeHead(status, reason, headers);
}

export function sendCustomResponse(invocation: Invocation, custom: CustomHttpResponse, context: Context): void {
  const { response } = invocation;
  if (custom.status < 200) throw informational(custom.status);
  const written = writtenOf(custom.written);
  const headers = withoutHeaders(
    context.destinations.headers.response(written.headers ?? []),
    'content-length',
    'content-encoding',
  );
  const contentType = findHeader(headers, 'content-type');
  const body = Buffer.from(written.body ?? '');
  if (contentType === undefined && body.length > 0) headers.push('Content-Type', 'application/json');
  const isBodiless = emptyStatuses.has(custom.status) || response.req.method === 'HEAD';
  const length = isBodiless ? [] : ['Content-Length', `${body.length}`];
  response.writeHead(custom.status, [
    ...headers,
    ...length,
    ...ownHeaders(invocation, invocation.destinationStatus, context),
  ]);
  response.end(isBodiless ? undefined : body);
}

/** An informational status cannot end an exchange (RFC 9110 section 15.2). */
function informational(status: number): ServiceError {
  return new ServiceError('transform_failed', `The transform answered with the informational status ${status}`);
}

export function sendProxyError(invocation: Invocation, thrown: unknown, context: Context): void {
  const { response } = invocation;
  if (response.headersSent) {
    breakOff(response);
    return;
  }
  const error = asServiceError(thrown);
  const isUsable = isEndCertain(response.req);
  const body = JSON.stringify({ proxy_error: toProblem(error, invocation.traceId) });
  const headers = ['Content-Type', 'application/json', 'Content-Length', `${Buffer.byteLength(body)}`];
  if (error.retryAfterSeconds !== undefined) headers.push('Retry-After', `${error.retryAfterSeconds}`);
  if (!isUsable) headers.push('Connection', 'close');
  response.writeHead(error.status, [...headers, ...ownHeaders(invocation, undefined, context)]);
  if (isUsable) endRefusal(response, body);
  else response.end(body);
}

/** In HTTP/1.0 a body may end with its connection, so only a reset tells the caller that it is not whole. */
function breakOff(response: ServerResponse): void {
  if (response.req.httpVersion === '1.0') response.socket?.resetAndDestroy();
  else response.destroy();
}
