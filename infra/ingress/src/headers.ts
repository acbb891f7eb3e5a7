/** Names and values in turn, like `rawHeaders`, with case, order and repetition as sent. */
export type RawHeaders = readonly string[];

/** RFC 9110 section 7.6.1. */
const connectionHeaders = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade'];

/** Headers that `Connection` cannot remove, because without them the service would read the message differently. */
const neverNominated = new Set(['content-length', 'transfer-encoding', 'host']);

/**
 * For these methods Node would frame a missing body as chunked, but RFC 9110 section 8.6 asks for `Content-Length: 0`.
 */
const lengthExpected = new Set(['POST', 'PUT', 'PATCH']);

interface Receiving {
  method: string;
  /** Host and port of the service. */
  host: string;
  /** Address of the client. Headers in which the client names one are dropped, because services trust the ingress. */
  client: string;
}

/**
 * The headers for the service: all that do not concern this connection, with the framing as it was sent. A request for
 * a WebSocket is passed on, because the service refuses it with an error of its own. Other offers of an upgrade are
 * dropped, because they may be ignored (RFC 9110 section 7.8).
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

/** The headers for the client. If the service gave no length, Node frames the body. */
export function responseHeaders(raw: RawHeaders): string[] {
  return endToEnd(raw, ['transfer-encoding']);
}

/** Whether the headers frame a body. A request without framing has no body (RFC 9112 section 6.3). */
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
