import type { IncomingMessage } from 'node:http';

export interface HeadFault {
  code: 'bad_request' | 'expectation_failed';
  detail: string;
}

/**
 * Finds faults that readers could interpret differently (RFC 9112 section 3.2), and requests that cannot be served. End
 * the connection after one.
 */
export function faultInHead(request: IncomingMessage): HeadFault | undefined {
  const { headers, httpVersion } = request;
  const bad = (detail: string): HeadFault => ({ code: 'bad_request', detail });
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return bad('The HTTP version must be 1.1 or 1.0');
  const hosts = valuesOf(request, 'host');
  if (hosts.length > 1 || (hosts.length === 0 && httpVersion === '1.1')) return bad('There must be one Host header');
  if (hosts[0] !== undefined && !hostValue.test(hosts[0])) return bad('The Host header is not valid');
  if (!isEndCertain(request)) return bad('The body must have one Content-Length, or be chunked in HTTP/1.1');
  if (httpVersion === '1.1' && (headers.expect ?? '100-continue').toLowerCase() !== '100-continue') {
    return { code: 'expectation_failed', detail: 'The Expect header may only have the value 100-continue' };
  }
  return undefined;
}

/** RFC 3986 section 3.2.2 and a port. No comma, because joining two header lines makes one. */
const hostValue = /^(?:\[[0-9a-f:.]+\]|[a-z0-9\-._~%!$&'()*+;=]*)(?::\d*)?$/i;

/** One value for each header line. Node's `headersDistinct` would build an object of all headers. */
export function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i] ?? '';
    if (sent.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[i + 1] ?? '');
  }
  return values;
}

/** Whether all readers agree where the request ends (RFC 9112 section 6). Otherwise nothing after it may be read. */
export function isEndCertain({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) return coding.toLowerCase() === 'chunked' && httpVersion === '1.1';
  return Number(headers['content-length'] ?? 0) <= Number.MAX_SAFE_INTEGER;
}
