/** Names and values in turn, as `rawHeaders` has them: case, order and repetition as sent. */
export type RawHeaders = readonly string[];

/** RFC 9110 section 7.6.1. */
const connectionHeaders = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade'];

/** What `Connection` cannot nominate: without these a message would be read differently behind us. */
const neverNominated = new Set(['content-length', 'transfer-encoding', 'host']);

/** For POST, PUT and PATCH node frames a body of unknown length where none was sent; RFC 9110 section 8.6 wants a 0. */
const lengthExpected = new Set(['POST', 'PUT', 'PATCH']);

interface Receiving {
  method: string;
  /** Of the service. */
  host: string;
  /** Address of the client. What the client says of it is not passed on, because services believe the ingress. */
  client: string;
}

/**
 * The headers that go to the service: what is not about this connection, with the framing as it was sent. A WebSocket
 * that is asked for is passed on for the service to refuse; other offers of an upgrade end here, where they may be
 * ignored (RFC 9110 section 7.8).
 */
export function requestHeaders(raw: RawHeaders, { method, host, client }: Receiving): string[] {
  const headers = endToEnd(raw, ['x-forwarded-for']);
  headers.push('X-Forwarded-For', client);
  if (asksForWebSocket(raw)) headers.push('Connection', 'Upgrade', 'Upgrade', 'websocket');
  if (lengthExpected.has(method) && !isFramed(raw)) headers.push('Content-Length', '0');
  if (valuesOf(raw, 'host').length === 0) headers.push('Host', host); // HTTP/1.0
  return headers;
}

export function asksForWebSocket(raw: RawHeaders): boolean {
  const isUpgrade = valuesOf(raw, 'connection').some((nominated) => /\bupgrade\b/i.test(nominated));
  return isUpgrade && valuesOf(raw, 'upgrade').some((protocols) => /\bwebsocket\b/i.test(protocols));
}

/** Trailers as pairs, for `addTrailers`. */
export function trailerPairs(raw: RawHeaders): [name: string, value: string][] {
  return pairs(endToEnd(raw, ['transfer-encoding']));
}

/** The headers that go to the client; node frames the body anew if the service did not give its length. */
export function responseHeaders(raw: RawHeaders): string[] {
  return endToEnd(raw, ['transfer-encoding']);
}

/** Whether the message says how its body is framed; a request that does not has none (RFC 9112 section 6.3). */
export function isFramed(raw: RawHeaders): boolean {
  return valuesOf(raw, 'content-length').length > 0 || valuesOf(raw, 'transfer-encoding').length > 0;
}

function endToEnd(raw: RawHeaders, alsoDropped: string[]): string[] {
  const nominated = valuesOf(raw, 'connection').flatMap((value) => value.toLowerCase().split(/[\s,]+/));
  const dropped = new Set([
    ...connectionHeaders,
    ...alsoDropped,
    ...nominated.filter((name) => !neverNominated.has(name)),
  ]);
  return pairs(raw).flatMap(([name, value]) => (dropped.has(name.toLowerCase()) ? [] : [name, value]));
}

function valuesOf(raw: RawHeaders, name: string): string[] {
  return pairs(raw).flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []));
}

function pairs(raw: RawHeaders): [name: string, value: string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index] ?? '', raw[2 * index + 1] ?? '']);
}
