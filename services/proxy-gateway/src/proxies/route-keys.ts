import type { IncomingHttpHeaders } from 'node:http';
import { isWellFormedApiKey } from '@sluice/credentials';

/** A place of a key that a Proxy lists in `accept_key_as`. */
type KeyPlace = 'bearer' | 'x-api-key' | 'basic';

export interface Candidate {
  key: string;
  place: KeyPlace;
}

/** What a request to a route sent to find its Proxy and its caller. */
export interface SentRoute {
  pathName: string;
  /** `/routes/<path_name>`; '' at a host of its own. */
  path: string;
  /** That the request names, as `hostAndPort` writes it. */
  host: string;
  /** In the order in which they are tried. Empty if the request has our own header, which then counts alone. */
  candidates: readonly Candidate[];
  isBrowser: boolean;
}

/**
 * The keys in places of other APIs. What does not have the form of our keys is no key, because clients send a key of their
 * destination there, too. A browser offers what it knows for a site by Basic, so there it does not count.
 */
export function candidatesIn(headers: IncomingHttpHeaders, isBrowser: boolean): Candidate[] {
  const { authorization = '', 'x-api-key': apiKey = '' } = headers;
  const [, scheme = '', text = ''] = credentials.exec(authorization) ?? [];
  const isBearer = /^(bearer|token)$/i.test(scheme);
  const isBasic = !isBrowser && /^basic$/i.test(scheme);
  const found: Candidate[] = [
    ...(isBearer ? [{ key: text, place: 'bearer' } as const] : []),
    { key: String(apiKey), place: 'x-api-key' },
    ...(isBasic ? partsOfBasic(text).map((key): Candidate => ({ key, place: 'basic' })) : []),
  ];
  return found.filter(({ key }) => isWellFormedApiKey(key));
}

const credentials = /^([A-Za-z]+) +(\S+) *$/;

/** User and password (RFC 7617). Text that decoders read differently is no key, so that none is honoured that goes on. */
function partsOfBasic(text: string): string[] {
  if (!/^[A-Za-z0-9+/_-]+=*$/.test(text)) return [];
  const decoded = Buffer.from(text, 'base64').toString('latin1');
  const colon = decoded.indexOf(':');
  return colon === -1 ? [decoded] : [decoded.slice(0, colon), decoded.slice(colon + 1)];
}
