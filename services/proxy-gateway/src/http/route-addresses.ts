import type { HeaderList } from './message.ts';

/** Where a route was called, and where its destination is. */
export interface RouteAddresses {
  /** The address of the call as the caller wrote it, so without values of tokens. */
  called: URL;
  /** Origin and path of `destination_url`. */
  destination: { origin: string; path: string };
  /** Origin and path of the route; the path is empty at a host of its own. */
  route: { origin: string; path: string };
  /** Whether it is a host of ours, or the one that was called. */
  isOurs(address: URL): boolean;
}

/**
 * Headers of an answer, with addresses that lead a client back to the route and nowhere else at Sluice. An address below
 * the path of `destination_url` becomes the route's own, and all others become absolute. A line with an address at one
 * of our own hosts is removed whole: a client that followed it would send its key to our API, or to another route.
 */
export function withRouteAddresses(headers: HeaderList, addresses: RouteAddresses): HeaderList {
  const sent: HeaderList = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = '', value = ''] = [headers[i], headers[i + 1]];
    const write = writers[name.toLowerCase()];
    const written = write ? write(value, addresses) : value;
    if (written !== undefined) sent.push(name, written);
  }
  return sent;
}

export function holdsAddress(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (writers[headers[i]?.toLowerCase() ?? '']) return true;
  }
  return false;
}

/** Undefined removes the line. */
type Write = (value: string, addresses: RouteAddresses) => string | undefined;

/** A path alone needs no scheme and no host. Clients take an address of `Link` as it stands, so there it is absolute. */
const asPath: Write = (value, addresses) => written(value, addresses, false);

const writers: Record<string, Write> = { location: asPath, 'content-location': asPath, link: writeLink };

/**
 * Every target of the line (RFC 8288 section 3). A line that is not of this form is removed whole, because clients read
 * it differently: some take what stands in quotes, or before the first semicolon, for an address.
 */
function writeLink(value: string, addresses: RouteAddresses): string | undefined {
  const parts: string[] = [];
  link.lastIndex = 0;
  while (link.lastIndex < value.length) {
    const [, before = '', target = '', parameters = ''] = link.exec(value) ?? [];
    if (before === '') return undefined;
    const address = written(target, addresses, true);
    if (address === undefined) return undefined;
    parts.push(`<${address}>${parameters}`);
  }
  return parts.join(', ');
}

const link = /([\s,]*<)([^<>]*)>((?:"(?:[^"<>\\]|\\[^<>])*"|[^",<>])*)(?:,\s*|$)/y;

function written(
  text: string,
  { called, destination, route, isOurs }: RouteAddresses,
  isAbsolute: boolean,
): string | undefined {
  const address = URL.parse(inAscii(text), called);
  if (!address) return undefined;
  const base = destination.path.replace(/\/$/, '');
  const isBelow = address.pathname === base || address.pathname.startsWith(`${base}/`);
  if (address.origin !== destination.origin || !isBelow) return isOurs(address) ? undefined : address.href;
  const path = route.path + address.pathname.slice(base.length) || '/';
  // A path that begins so would name a host
  const origin = isAbsolute || path.startsWith('//') ? route.origin : '';
  return origin + path + address.search + address.hash;
}

/** Each character of a header is a byte; as text it would be encoded a second time. */
export function inAscii(text: string): string {
  return text.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}
