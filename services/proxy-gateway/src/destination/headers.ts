import { ServiceError } from '@sluice/problems';

export interface HeaderFilter {
  /** Removes hop-by-hop and own headers, framing, `Host`, `Expect` and `CDN-Loop`. */
  request(rawHeaders: readonly string[]): string[];
  /** Removes hop-by-hop headers, and those that `Connection` nominates. */
  endToEnd(rawHeaders: readonly string[]): string[];
  /** Removes hop-by-hop and own headers; the length stays. */
  response(rawHeaders: readonly (string | Buffer)[]): string[];
}

/** RFC 9110 section 7.6.1, and headers that older texts add. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);
/** Requests get new ones from this service. In responses they mean nothing, or give the length. */
const ofOneConnection = new Set(['host', 'expect', 'content-length', 'cdn-loop']);

/** Parsers count only names and values; up to this many lines the uncounted rest is under 4 KiB. */
const uncountedLines = 1000;

export function hasTooManyLines(rawHeaders: readonly (string | Buffer)[], maxBytes: number): boolean {
  if (rawHeaders.length <= 2 * uncountedLines) return false;
  const sizeBytes = rawHeaders.reduce((sum, part) => sum + part.length + 2, 0);
  return sizeBytes > maxBytes;
}

/** Ordered, because a filter keeps everything up to one of these levels. */
const always = 0;
const framing = 1;
const ours = 2;
const hop = 3;
const connection = 4;
const transferEncoding = 5;
type Kept = typeof always | typeof framing | typeof ours;
type Kind = Kept | typeof hop | typeof connection | typeof transferEncoding;

/** Bounded, because clients and destinations choose the names. */
const maxKnownNames = 2000;
/** Longer names are classified anew each time, because one of them can take 64 KiB. */
const longestKnownName = 100;

export function headerFilter(ownPrefix: string): HeaderFilter {
  const own = `${ownPrefix.toLowerCase()}-`;
  const kinds = new Map<string, Kind>();

  function kindOf(name: string): Kind {
    if (name.length > longestKnownName) return classify(name.toLowerCase(), own);
    const known = kinds.get(name);
    if (known !== undefined) return known;
    if (kinds.size >= maxKnownNames) kinds.clear();
    const kind = classify(name.toLowerCase(), own);
    kinds.set(name, kind);
    return kind;
  }

  return {
    request: (rawHeaders) => filter(rawHeaders, kindOf, always),
    endToEnd: (rawHeaders) => filter(rawHeaders, kindOf, ours),
    response: (rawHeaders) => filter(rawHeaders, kindOf, framing),
  };
}

function classify(name: string, own: string): Kind {
  if (name === 'connection') return connection;
  if (name === 'transfer-encoding') return transferEncoding;
  if (ofOneConnection.has(name)) return framing;
  if (hopByHop.has(name)) return hop;
  if (name.startsWith(own)) return ours;
  // Proxy-Status (RFC 9209) is the only one of them that is end-to-end
  return name.startsWith('proxy-') && name !== 'proxy-status' ? hop : always;
}

function filter(raw: readonly (string | Buffer)[], kindOf: (name: string) => Kind, last: Kept): string[] {
  const kept: string[] = [];
  const dropped: string[] = [];
  let isChunked = false;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = text(raw[i]);
    const kind = kindOf(name);
    if (kind <= last) kept.push(name, text(raw[i + 1]));
    else if (kind === connection) addNominated(dropped, text(raw[i + 1]));
    else if (kind === transferEncoding) isChunked = true;
  }
  // Transfer-Encoding overrides Content-Length (RFC 9112 section 6.3)
  if (isChunked && last !== always) dropped.push('content-length');
  return dropped.length === 0 ? kept : without(kept, new Set(dropped));
}

function addNominated(names: string[], value: string): void {
  if (value === 'keep-alive' || value === 'close') return; // as nearly all peers send it
  for (const token of connectionTokens(value)) {
    if (token !== 'close' && !hopByHop.has(token)) names.push(token);
  }
}

function connectionTokens(value: string): string[] {
  return value
    .toLowerCase()
    .split(',')
    .map((token) => token.trim())
    .filter((token) => token !== '');
}

function without(headers: string[], names: ReadonlySet<string>): string[] {
  const left: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = '', value = ''] = headers.slice(i, i + 2);
    if (!names.has(name.toLowerCase())) left.push(name, value);
  }
  return left;
}

/**
 * No coding was requested, and parsers read a body with an unknown coding up to the end of the connection (RFC 9112
 * section 6.1).
 */
export function hasForeignCoding(rawHeaders: readonly (string | Buffer)[]): boolean {
  let codings = 0;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    // The length is compared first, because it rules out most headers
    if (rawHeaders[i]?.length !== 17 || text(rawHeaders[i]).toLowerCase() !== 'transfer-encoding') continue;
    codings++;
    const coding = text(rawHeaders[i + 1]).trim();
    if (coding.toLowerCase() !== 'chunked') return true;
  }
  return codings > 1;
}

/** RFC 9110 section 8.6: a 204 has no `Content-Length`. A client that believes one would wait for a body. */
export function withoutLengthOfNothing(status: number, headers: string[]): string[] {
  return status === 204 ? without(headers, new Set(['content-length'])) : headers;
}

/** Keeps only reasons that every client can read; otherwise the caller gets the usual phrase of the status. */
export function passableReason(reason: string | undefined): string | undefined {
  return reason !== undefined && /^[\t -~]*$/.test(reason) ? reason : undefined;
}

function text(part: string | Buffer | undefined): string {
  return typeof part === 'string' ? part : (part?.toString('latin1') ?? '');
}

/**
 * @throws {ServiceError} 400 if it names a header that is sent or frames the message, because the next hop would remove
 * that header.
 */
export function checkConnection(value: string, headers: readonly string[]): void {
  for (const token of connectionTokens(value)) {
    const isSent = headers.some((name, i) => i % 2 === 0 && name.toLowerCase() === token);
    if (isSent || ofOneConnection.has(token) || token === 'transfer-encoding') {
      throw new ServiceError('bad_request', `The Connection header for the destination must not name ${token}`);
    }
  }
}
