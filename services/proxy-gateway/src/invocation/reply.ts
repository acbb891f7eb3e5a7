import type { ServerResponse } from 'node:http';
import { forBrowsers } from '@sluice/hosts';
import { asServiceError, endRefusal, proxyRefusal, ServiceError } from '@sluice/problems';
import type { CustomHttpResponse } from '@sluice/sandbox';
import { isEndCertain } from '@sluice/service-runtime';
import type { Context } from '../context.ts';
import { findHeader, withoutHeaders } from '../http/header-list.ts';
import type { Answer, HeaderList, PassedAnswer } from '../http/message.ts';
import { withoutFormerValidators } from '../http/validators.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { bytesOf, writtenOf } from '../transforms/transform-message.ts';

/** Needed to write the gateway's own responses. */
type Replying = Pick<Context, 'headerNames' | 'showsTiming'>;

const emptyStatuses = new Set([204, 205, 304]);

export function isCollected(answer: Answer | PassedAnswer): answer is Answer {
  return Buffer.isBuffer(answer.body);
}

/** Resolves when the whole body has been passed on; undefined if it was sent at once. */
export function sendAnswer(
  invocation: Invocation,
  answer: Answer | PassedAnswer,
  context: Replying,
): Promise<void> | undefined {
  if (!isCollected(answer)) return passOn(invocation, answer, context);
  sendCollected(invocation, answer, context);
  return undefined;
}

function sendCollected(invocation: Invocation, { status, reason, headers, body }: Answer, context: Replying): void {
  const { response, clock } = invocation;
  clock.enter();
  const framed = withoutHeaders(headers, 'content-length');
  const isBodiless = emptyStatuses.has(status) || response.req.method === 'HEAD';
  const length = isBodiless ? [] : ['Content-Length', `${body.length}`];
  writeHead(response, { status, reason, headers: [...framed, ...length, ...ownHeaders(invocation, status, context)] });
  response.end(isBodiless ? undefined : body);
}

function passOn(invocation: Invocation, answer: PassedAnswer, context: Replying): Promise<void> | undefined {
  const { response } = invocation;
  const { status, reason, headers, body } = answer;
  try {
    writeHead(response, { status, reason, headers: headers.concat(ownHeaders(invocation, status, context)) });
    return body.sendTo(response);
  } catch (error) {
    body.abort();
    throw error;
  }
}

/** The only place that writes the head of an answer, refusals included. */
function writeHead(response: ServerResponse, { status, reason, headers }: Omit<Answer, 'body'>): void {
  const sent = forBrowsers(response.req, headers);
  if (reason === undefined) response.writeHead(status, sent);
  else response.writeHead(status, reason, sent);
}

export function sendCustomResponse(
  invocation: Invocation,
  custom: CustomHttpResponse,
  context: Replying & Pick<Context, 'destinations'>,
): void {
  const { response } = invocation;
  invocation.clock.enter();
  if (custom.status < 200) throw informational(custom.status);
  const written = writtenOf(custom.written);
  const passed = context.destinations.headers.response(written.headers ?? []);
  // 304 has no body: its headers describe the body that the caller already has
  const former = emptyStatuses.has(custom.status) ? [] : (invocation.answerHeaders ?? response.req.rawHeaders);
  const framed = withoutHeaders(passed, 'content-length', 'content-encoding');
  const headers = withoutFormerValidators(framed, former, 'answer');
  const contentType = findHeader(headers, 'content-type');
  const body = written.body ? bytesOf(written.body) : Buffer.alloc(0);
  if (contentType === undefined && body.length > 0) headers.push('Content-Type', 'application/json');
  const isBodiless = emptyStatuses.has(custom.status) || response.req.method === 'HEAD';
  const length = isBodiless ? [] : ['Content-Length', `${body.length}`];
  const own = ownHeaders(invocation, invocation.destinationStatus, context);
  writeHead(response, { status: custom.status, headers: [...headers, ...length, ...own] });
  response.end(isBodiless ? undefined : body);
}

/** An informational status cannot end an exchange (RFC 9110 section 15.2). */
function informational(status: number): ServiceError {
  return new ServiceError('transform_failed', `The transform answered with the informational status ${status}`);
}

export function sendProxyError(invocation: Invocation, thrown: unknown, context: Replying): void {
  const { response } = invocation;
  if (response.headersSent) {
    breakOff(response);
    return;
  }
  const isUsable = isEndCertain(response.req);
  const { traceId, destinationStatus } = invocation;
  const { status, headers, body } = proxyRefusal(asServiceError(thrown), traceId, destinationStatus);
  if (!isUsable) headers.push('Connection', 'close');
  writeHead(response, { status, headers: [...headers, ...ownHeaders(invocation, undefined, context)] });
  if (isUsable) endRefusal(response, body);
  else response.end(body);
}

/** In HTTP/1.0 the end of the connection may end a body, so only a reset shows the caller that it is incomplete. */
function breakOff(response: ServerResponse): void {
  if (response.req.httpVersion === '1.0') response.socket?.resetAndDestroy();
  else response.destroy();
}

function ownHeaders(
  { traceId, clock }: Invocation,
  destinationStatus: number | undefined,
  { headerNames: names, showsTiming }: Replying,
): HeaderList {
  const own = [names.traceId, traceId];
  if (destinationStatus !== undefined) own.push(names.destinationStatus, `${destinationStatus}`);
  if (showsTiming) own.push('Server-Timing', clock.serverTiming());
  return own;
}
