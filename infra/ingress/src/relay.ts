import { type Agent, type ClientRequest, type IncomingMessage, request as open, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { asksForWebSocket, isFramed, requestHeaders, responseHeaders, trailerPairs } from './headers.ts';

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Path and query for the service. */
  path: string;
  /** Where the service is; only host and port are used. */
  origin: URL;
  agent: Agent;
  /** Address of the client. */
  client: string;
  /** Called once when the service failed before its answer began, so that nothing was sent to the client. */
  onFailure: (error: Error) => void;
}

/**
 * Passes a request to a service and its answer back, both as streams: bytes as they come, and a slow reader slows the
 * sender. A client that goes away aborts the service's side; a service that fails in the middle of its answer has the
 * client's connection destroyed, so that a truncated answer never looks complete.
 */
export function relay(exchange: Exchange): void {
  attempt(exchange, { retry: isRepeatable(exchange.request) });
}

/** The gateway lets 64 KiB of a destination's headers through, and adds its own. */
const maxAnswerHeadBytes = 80 * 1024;

/** RFC 9110 section 9.2.2; without a body there is also nothing that would have to be sent again. */
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

  // After a request that asked for an upgrade node's parser reads no other on the same connection.
  const upgrade = asksForWebSocket(rawHeaders);
  const to = { host: bareHost(origin), port: origin.port || 80, agent: upgrade ? (false as const) : agent };
  const outgoing = open({ ...to, method, path, headers, maxHeaderSize: maxAnswerHeadBytes });
  outgoing.maxHeadersCount = 0; // no count: Node would leave out what is beyond it
  const abort = () => outgoing.destroy();
  response.once('close', abort);
  outgoing.on('continue', () => {
    continued = true;
    response.writeContinue();
  });
  outgoing.on('response', (incoming) => {
    answered = true;
    // The client asked before sending its body; what it sends next may be that body or another request.
    const bodyUnwanted = 'expect' in request.headers && !continued;
    answer(incoming, response, { close: upgrade || bodyUnwanted });
  });
  outgoing.on('error', (error) => {
    failure = error;
  });
  outgoing.on('close', () => {
    response.off('close', abort);
    // What is left of the body goes nowhere. Unread, it would stand before the next request on this connection for ever.
    request.unpipe(outgoing);
    request.resume();
    if (answered || response.destroyed) return;
    if (retry && isStale(outgoing, failure)) attempt(exchange, { retry: false });
    else onFailure(failure ?? new Error('the connection was closed without an answer'));
  });
  if (isFramed(rawHeaders)) request.pipe(outgoing);
  else outgoing.end();
}

/** The service closed an idle connection in the moment in which it was used again. */
function isStale(outgoing: ClientRequest, failure: Error | undefined): boolean {
  const code = failure && 'code' in failure ? failure.code : undefined;
  return outgoing.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
}

function answer(incoming: IncomingMessage, response: ServerResponse, { close }: { close: boolean }): void {
  const headers = responseHeaders(incoming.rawHeaders);
  if (close) headers.push('Connection', 'close');
  response.sendDate = false;
  response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, headers);
  // Together with what of the body has come in the same piece, or alone
  setImmediate(() => {
    if (!incoming.readableDidRead && !response.writableEnded) response.flushHeaders();
  });
  incoming.once('end', () => {
    if (incoming.rawTrailers.length > 0) response.addTrailers(trailerPairs(incoming.rawTrailers));
  });
  // On failure at either end pipeline destroys both.
  pipeline(incoming, response, () => undefined);
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}
