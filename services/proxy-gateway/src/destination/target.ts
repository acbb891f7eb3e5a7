import { ServiceError } from '@sluice/problems';

/** Where a request is sent: what `addressOf` makes of a target and a destination. */
export interface Address {
  origin: string;
  path: string;
}

export interface DestinationRequest extends Address {
  tenantId: string;
  proxyId?: string;
  callerId?: string | undefined;
  method: string;
  /** Flat list of names and values that passed the request filter; `Host` and framing are added here. */
  headers: string[];
  body: Buffer | undefined;
  cdnLoop?: string | undefined;
  /** From its start to the response head. Default: that of the destinations. */
  headTimeoutMs?: number | undefined;
  /** It carries a value whose uses are counted, so it is never repeated. */
  isSentOnce?: boolean | undefined;
  /** No caller waits for the answer, so a gateway that stops ends the call only when the process ends. */
  noCallerWaits?: boolean | undefined;
}

export interface DestinationUrl {
  origin: string;
  host: string;
  path: string;
  /** With its `?`; '' where there is none. */
  query: string;
}

export function parseDestination(destinationUrl: string): DestinationUrl | undefined {
  const url = URL.parse(destinationUrl);
  return url ? { origin: url.origin, host: url.host, path: url.pathname, query: url.search } : undefined;
}

/** Path and query of a request. */
interface Sent {
  path: string;
  query: string;
}

/** Of a target that {@link checkTarget} has accepted. Joins both queries. */
export function addressOf(destination: DestinationUrl, { path, query }: Sent): Address {
  return { origin: destination.origin, path: joinPath(destination.path, path) + joinQuery(destination.query, query) };
}

function joinPath(base: string, suffix: string): string {
  if (suffix === '') return base;
  return (base.endsWith('/') ? base.slice(0, -1) : base) + suffix;
}

function joinQuery(base: string, query: string): string {
  const extra = queryOf(query);
  if (extra === '') return base;
  return base === '' ? `?${extra}` : `${base}&${extra}`;
}

function queryOf(query: string): string {
  return query.startsWith('?') ? query.slice(1) : query;
}

/** @throws {ServiceError} 400 if a URL cannot hold it, or if its path could lead out of the destination's path. */
export function checkTarget({ path, query }: Sent): void {
  if (path !== '') checkSuffix(path);
  if (notSendable.test(queryOf(query))) {
    throw new ServiceError('bad_request', 'The query has characters that a URL cannot have');
  }
}

/** Characters that would end the request line or the header line, or begin a fragment of the URL. */
const notSendable = /[^\u0021-\u00ff]|#/;

/** Refuses `..` in every spelling that some server decodes: with `%2e`, `%2f`, `%5c`, `\` or parameters (`..;x`). */
function checkSuffix(suffix: string): void {
  if (!suffix.startsWith('/') || notSendable.test(suffix)) {
    throw new ServiceError('bad_request', 'The path has characters that a URL cannot have');
  }
  if (!suffix.includes('..') && !suffix.includes('%') && !suffix.includes('\\')) return;
  const segments = suffix.replace(/%2e/gi, '.').split(/\/|\\|%2f|%5c/i);
  if (segments.some((segment) => segment === '..' || segment.startsWith('..;'))) {
    throw new ServiceError('bad_request', 'The path must stay below the path of destination_url');
  }
}
