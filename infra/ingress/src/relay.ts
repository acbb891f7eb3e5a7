import { type Agent, type ClientRequest, type IncomingMessage, request as open, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { asksForWebSocket, isFramed, requestHeaders, responseHeaders, trailerPairs } from './headers.ts';

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Path and query for the service. */
  path: string;
  /** Address of the service; only host and port are used. */
  origin: URL;
  agent: Agent;
  /** Address of the client. */
  client: string;
  /** Called once if the service fails before its answer begins. Nothing has been sent to the client then. */
  onFailure: (error: Error) => void;
}

/**
 * Passes a request to a service and its answer back, both as streams with backpressure. If the client leaves, the
 * request to the service is aborted. If the service fails in the middle of its answer, the client's connection is
 * destroyed, in HTTP/1.0 reset, so that a truncated answer never looks complete.
 */
export function relay(exchange: Exchange): void {
  attempt(exchange, { retry: isRepeatable(exchange.request) });
}

/** The gateway passes up to 64 KiB of a destination's headers, and adds its own. */
const maxAnswerHeadBytes = 80 * 1024;

/**
 * Methods that may be repeated (RFC 9110 section 9.2.2), if the request has no body that would have to be sent again.
 */
const idempotent = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);

function isRepeatable({ method = '', rawHeaders }: IncomingMessage): boolean {
  return idempotent.has(method) && !isFramed(rawHeaders);
}

function attempt(exchange: Exchange, { retry }: { retry: boolean }): void {
  const { request, response, path, origin, agent, client, onFailure } = exchange;
  const { method = '', rawHeaders } = request;
  const headers = requestHeaders(rawHeaders, { method, host: origin.host, client });
  let failure: Error | undefined;
  let answered = false;
  let continued = false;

  // After a request for an upgrade Node's parser reads no further request on that connection.
  const upgrade = asksForWebSocket(rawHeaders);
  const to = { host: bareHost(origin), port: origin.port || 80, agent: upgrade ? (false as const) : agent };
  const outgoing = open({ ...to, method, path, headers, maxHeaderSize: maxAnswerHeadBytes });
  outgoing.maxHeadersCount = 0; // no limit, because Node silently drops headers beyond it
  const abort = () => outgoing.destroy();
  response.once('close', abort);
  outgoing.on('continue', () => {
    continued = true;
    response.writeContinue();
  });
  outgoing.on('response', (incoming) => {
    answered = true;
    // The client waits for permission to send its body, so its next bytes may be that body or another request.
    const bodyUnwanted = 'expect' in request.headers && !continued;
    answer(incoming, response, { close: upgrade || bodyUnwanted });
  });
  outgoing.on('error', (error) => {
    failure = error;
  });
  outgoing.on('close', () => {
    response.off('close', abort);
    // The rest of the body is read and dropped, because it precedes the next request on this connection.
    request.unpipe(outgoing);
    request.resume();
    if (answered || response.destroyed) return;
    if (retry && isStale(outgoing, failure)) attempt(exchange, { retry: false });
    else onFailure(failure ?? new Error('the connection was closed without an answer'));
  });
  if (isFramed(rawHeaders)) request.pipe(outgoing);
  else outgoing.end();
}

/** Whether the service closed an idle connection at the moment when it was used again. */
function isStale(outgoing: ClientRequest, failure: Error | undefined): boolean {
  const code = failure && 'code' in failure ? failure.code : undefined;
  return outgoing.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
}

function answer(incoming: IncomingMessage, response: ServerResponse, { close }: { close: boolean }): void {
  const headers = responseHeaders(incoming.rawHeaders);
  if (close) headers.push('Connection', 'close');
  response.sendDate = false;
  response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, headers);
  // One turn later, so that a body that came with the head is sent together with it.
  setImmediate(() => {
    if (!incoming.readableDidRead && !response.writableEnded) response.flushHeaders();
  });
  incoming.once('end', () => {
    if (incoming.rawTrailers.length > 0) response.addTrailers(trailerPairs(incoming.rawTrailers));
  });
  // In HTTP/1.0 a body may end with its connection, so only a reset shows the client that it is incomplete
  if (response.req.httpVersion === '1.0') incoming.once('error', () => response.socket?.resetAndDestroy());
  // `pipeline` destroys both ends if one fails.
  pipeline(incoming, response, () => undefined);
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}
