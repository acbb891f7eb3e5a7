import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '@sluice/problems';

interface Asked {
  headers: IncomingHttpHeaders;
}

/**
 * Destinations control their responses on the base host and on routes. A service worker that one of them registered
 * would answer for all pages of that origin, and see the keys in their requests.
 * @throws {ServiceError} 403 for the script of a service worker, which only such requests name (Service Workers,
 * "Update").
 */
export function refuseServiceWorker({ headers }: Asked): void {
  if (headers['service-worker'] === 'script') {
    throw new ServiceError('forbidden', 'No service worker may be registered on this host');
  }
}

/** Destinations of requests whose response the browser shows as a page (Fetch Metadata, `Sec-Fetch-Dest`). */
const navigations = new Set(['document', 'iframe', 'frame', 'fencedframe', 'object', 'embed']);

/**
 * Headers that affect more than this response in a browser. `Clear-Site-Data` deletes the cookies of all hosts below
 * the registrable domain, also the console's. The others stay in force for this host or all hosts below it: where
 * failures and addresses of requests are reported, whether https is required, and alternative hosts.
 */
const ofWholeHosts = new Set(['clear-site-data', 'nel', 'report-to', 'strict-transport-security', 'alt-svc']);

/**
 * Filters headers of a response that a destination may have written; names and values alternate. A navigation gets a
 * policy that gives the page its own origin, so that its scripts share no storage and no requests with others on this
 * host. `Vary` keeps a browser from showing as a page a cached response to a request without that policy. A cookie
 * loses its `Domain`, so that it reaches no other host. Clients other than browsers get the headers unchanged.
 */
export function forBrowsers({ headers: asked }: Asked, headers: string[]): string[] {
  const { 'sec-fetch-site': site, 'sec-fetch-dest': destination } = asked;
  if (site === undefined && destination === undefined) return headers;
  const sent: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = '', value = ''] = headers.slice(i, i + 2);
    const known = name.toLowerCase();
    if (!ofWholeHosts.has(known)) sent.push(name, known === 'set-cookie' ? ownCookie(value) : value);
  }
  sent.push('Vary', 'Sec-Fetch-Dest');
  if (typeof destination === 'string' && navigations.has(destination)) sent.push('Content-Security-Policy', 'sandbox');
  return sent;
}

/** RFC 6265 section 5.2: attributes follow the first semicolon, and quotes have no meaning. */
function ownCookie(cookie: string): string {
  const [pair = '', ...attributes] = cookie.split(';');
  return [pair, ...attributes.filter((attribute) => !/^\s*domain\s*(?:=|$)/i.test(attribute))].join(';');
}
