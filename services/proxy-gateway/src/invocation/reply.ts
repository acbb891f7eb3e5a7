import type { ServerResponse } from 'node:http';
import { forBrowsers, hostAndPort, originOf } from '@sluice/hosts';
import { asServiceError, endRefusal, proxyRefusal, type Refusal, ServiceError } from '@sluice/problems';
import type { CustomHttpResponse } from '@sluice/sandbox';
import { isEndCertain } from '@sluice/service-runtime';
import type { Context } from '../context.ts';
import { addressOf, idempotentMethods } from '../destination/index.ts';
import { guardAnswer, guardCollected } from '../guard/guard-answer.ts';
import { ValueReturned } from '../guard/response-guard.ts';
import { findHeader, replaceHeaders, withoutHeaders } from '../http/header-list.ts';
import type { Answer, HeaderList, StreamedAnswer } from '../http/message.ts';
import { holdsAddress, inAscii, type RouteAddresses, withRouteAddresses } from '../http/route-addresses.ts';
import { withoutFormerValidators } from '../http/validators.ts';
import type { Invocation } from '../proxies/invocation.ts';
import type { SentRoute } from '../proxies/route-keys.ts';
import { bytesOf, writtenOf } from '../transforms/transform-message.ts';
import { passOnAnswer } from './pass-on.ts';

/** Needed to write the gateway's own responses. */
type Replying = Pick<Context, 'headerNames' | 'showsTiming' | 'ownHosts'>;

const emptyStatuses = new Set([204, 205, 304]);

/** Resolves when the whole body has been passed on; undefined if it was sent at once. */
export function sendAnswer(
  invocation: Invocation,
  answer: Answer | StreamedAnswer,
  context: Replying,
): Promise<void> | undefined {
  try {
    const headers = withOwnAddresses(invocation, answer.headers, context);
    const addressed = headers === answer.headers ? answer : { ...answer, headers };
    const { responseGuard, response } = invocation;
    const reply = responseGuard
      ? guardAnswer(addressed, responseGuard, sendsNoBody(answer.status, response))
      : addressed;
    if (!isCollected(reply)) return passOn(invocation, reply, context);
    sendCollected(invocation, reply, context);
    return undefined;
  } catch (error) {
    if (!isCollected(answer)) answer.body.abort(error);
    throw error;
  }
}

/** Node sends what is written as the body of a 205. */
function sendsNoBody(status: number, response: ServerResponse): boolean {
  return status !== 205 && isWithoutBody(status, response);
}

function isWithoutBody(status: number, { req }: ServerResponse): boolean {
  return emptyStatuses.has(status) || req.method === 'HEAD';
}

function isCollected(answer: Answer | StreamedAnswer): answer is Answer {
  return Buffer.isBuffer(answer.body);
}

function sendCollected(invocation: Invocation, { status, reason, headers, body }: Answer, context: Replying): void {
  const { response, clock } = invocation;
  clock.enter();
  const framed = withoutHeaders(headers, 'content-length');
  const isBodiless = isWithoutBody(status, response);
  const length = isBodiless ? [] : ['Content-Length', `${body.length}`];
  writeHead(response, { status, reason, headers: [...framed, ...length, ...ownHeaders(invocation, status, context)] });
  response.end(isBodiless ? undefined : body);
}

function passOn(invocation: Invocation, answer: StreamedAnswer, context: Replying): Promise<void> | undefined {
  const { response } = invocation;
  const { status, reason, headers, body } = answer;
  return passOnAnswer(body, response, () =>
    writeHead(response, { status, reason, headers: headers.concat(ownHeaders(invocation, status, context)) }),
  );
}

/** On a route a client is never led past it to another address of ours. */
function withOwnAddresses(invocation: Invocation, headers: HeaderList, context: Replying): HeaderList {
  if (!invocation.head.route || !holdsAddress(headers)) return headers;
  // An address that is rewritten may have a value in another form afterwards
  const guarded = invocation.responseGuard?.lines(headers) ?? headers;
  return withRouteAddresses(guarded, addressesOf(invocation, invocation.head.route, context));
}

/** Relative addresses are resolved without the values of tokens, which a transform or the destination alone may tell. */
function addressesOf({ head, proxy }: Invocation, route: SentRoute, { ownHosts }: Replying): RouteAddresses {
  const { host, path } = route;
  const { destination } = proxy;
  const called = addressOf(destination, head.target);
  const isBase = host === ownHosts.baseHost;
  return {
    called: new URL(called.origin + inAscii(called.path)),
    destination,
    route: { origin: (isBase ? ownHosts.baseOrigin : undefined) ?? originOf(host), path },
    isOurs: (address) => {
      const named = hostAndPort(address.host);
      return named !== undefined && (named === host || ownHosts.has(named));
    },
  };
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
  const { response, responseGuard } = invocation;
  invocation.clock.enter();
  if (custom.status < 200) throw informational(custom.status);
  const written = writtenOf(custom.written);
  const passed = context.destinations.headers.response(written.headers ?? []);
  // 304 has no body: its headers describe the body that the caller already has
  const former = emptyStatuses.has(custom.status) ? [] : (invocation.answerHeaders ?? response.req.rawHeaders);
  const framed = withoutHeaders(passed, 'content-length', 'content-encoding');
  const headers = withoutFormerValidators(withOwnAddresses(invocation, framed, context), former, 'answer');
  const contentType = findHeader(headers, 'content-type');
  const body = written.body ? bytesOf(written.body) : Buffer.alloc(0);
  if (contentType === undefined && body.length > 0) headers.push('Content-Type', 'application/json');
  const made = { status: custom.status, headers, body };
  const sent = responseGuard ? guardCollected(made, responseGuard) : made;
  const isBodiless = isWithoutBody(custom.status, response);
  const length = isBodiless ? [] : ['Content-Length', `${sent.body.length}`];
  const own = ownHeaders(invocation, invocation.destinationStatus, context);
  writeHead(response, { status: custom.status, headers: [...sent.headers, ...length, ...own] });
  response.end(isBodiless ? undefined : sent.body);
}

/** An informational status cannot end an exchange (RFC 9110 section 15.2). */
function informational(status: number): ServiceError {
  return new ServiceError('transform_failed', `The transform returned the informational status ${status}`);
}

export function sendProxyError(invocation: Invocation, thrown: unknown, context: Replying): void {
  const { response } = invocation;
  if (response.headersSent) {
    breakOff(response);
    return;
  }
  const isUsable = isEndCertain(response.req);
  const { status, headers, body } = refusalOf(invocation, asServiceError(thrown));
  if (!isUsable) headers.push('Connection', 'close');
  if (status === 401) headers.push(...challenges(invocation));
  writeHead(response, { status, headers: [...headers, ...ownHeaders(invocation, undefined, context)] });
  if (isUsable) endRefusal(response, body);
  else response.end(body);
}

/** Errors of code have its own texts, and some of ours quote the destination. */
function refusalOf(invocation: Invocation, error: ServiceError): Refusal {
  const { traceId, responseGuard } = invocation;
  const isBlocked = error instanceof ValueReturned;
  const destinationStatus = isBlocked ? undefined : invocation.destinationStatus;
  const refusal = proxyRefusal(error, traceId, { destinationStatus, mayHaveActed: mayHaveActed(invocation) });
  if (!responseGuard || isBlocked) return refusal;
  const body = responseGuard.whole(Buffer.from(refusal.body)).toString();
  const length = ['Content-Length', `${Buffer.byteLength(body)}`];
  return { ...refusal, body, headers: replaceHeaders(refusal.headers, length) };
}

/** Whether the destination has begun to receive a request that it could take for a second one if it came again. */
function mayHaveActed({ sentHeaders, head }: Invocation): boolean {
  if (!sentHeaders || idempotentMethods.has(head.target.method)) return false;
  return (findHeader(sentHeaders, 'idempotency-key') ?? '') === '';
}

/** In HTTP/1.0 the end of the connection may end a body, so only a reset shows the caller that it is incomplete. */
function breakOff(response: ServerResponse): void {
  if (response.req.httpVersion === '1.0') response.socket?.resetAndDestroy();
  else response.destroy();
}

/** A browser that were asked for Basic would keep the key and send it with each request to the host. */
function challenges({ head }: Invocation): HeaderList {
  if (!head?.route) return [];
  const bearer = ['WWW-Authenticate', 'Bearer'];
  return head.route.isBrowser ? bearer : ['WWW-Authenticate', 'Basic realm="sluice"', ...bearer];
}

function ownHeaders(
  { traceId, clock, head }: Invocation,
  destinationStatus: number | undefined,
  { headerNames: names, showsTiming }: Replying,
): HeaderList {
  const own = [names.traceId, traceId];
  if (destinationStatus !== undefined) own.push(names.destinationStatus, `${destinationStatus}`);
  // One URL is another Proxy by another key. If the head could not be read, it is undefined
  if (head?.route) own.push('Vary', `Authorization, X-Api-Key, ${names.prefix}-API-KEY`);
  if (showsTiming) own.push('Server-Timing', clock.serverTiming());
  return own;
}
