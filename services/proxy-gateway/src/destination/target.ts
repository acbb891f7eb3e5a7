import { ServiceError } from '@sluice/problems';

export interface Target {
  origin: string;
  path: string;
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

/** Joins both queries. @throws {ServiceError} 400 if the suffix could lead out of the destination's path. */
export function joinUrl(destination: DestinationUrl, suffix: string, query: string): Target {
  const { origin, path, query: ownQuery } = destination;
  return { origin, path: joinPath(path, suffix) + joinQuery(ownQuery, query) };
}

function joinPath(base: string, suffix: string): string {
  if (suffix === '') return base;
  checkSuffix(suffix);
  return (base.endsWith('/') ? base.slice(0, -1) : base) + suffix;
}

function joinQuery(base: string, query: string): string {
  const extra = query.startsWith('?') ? query.slice(1) : query;
  if (extra === '') return base;
  if (notSendable.test(extra)) throw new ServiceError('bad_request', 'The query has characters that a URL cannot have');
  return base === '' ? `?${extra}` : `${base}&${extra}`;
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
    throw new ServiceError('bad_request', 'The path must not lead out of the destination’s path');
  }
}
